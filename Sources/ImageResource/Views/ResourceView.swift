#if canImport(SwiftUI)
    public import SwiftUI
    public import Synchronizer

    /// A view of a resource. It requests the resource when it appears, shows each phase, and cancels when it disappears.
    ///
    /// ```swift
    /// ResourceView(JSONResource<Weather>(url: url)) { phase in
    ///     if let weather = phase.object { WeatherView(weather) } else { ProgressView() }
    /// }
    /// ```
    ///
    /// A fresh object in memory appears in the first frame. The second parameter of the closure, if it has one, loads again
    /// after a failure:
    ///
    /// ```swift
    /// ResourceView(weather) { phase, retry in
    ///     if case .failure = phase { Button("Try again", action: retry) } else { WeatherView(phase.object) }
    /// }
    /// ```
    public struct ResourceView<R: Resource, Content: View>: View {
        /// What to show.
        public typealias Phase = ResourceBinding<R>.Phase

        private let resource: R?
        /// Computed once for each value of the view, because the body is evaluated again for each phase.
        private let identity: ResourceIdentity?
        private let showsPreviews: Bool
        private let ownSynchronizer: Synchronizer?
        private let transaction: Transaction
        private let content: (Phase, _ retry: @escaping @MainActor () -> Void) -> Content
        @Environment(\.synchronizer) private var sharedSynchronizer
        @StateObject private var model = ResourceModel<R>()

        /// - Parameters:
        ///   - resource: The resource; nil shows the phase `empty`.
        ///   - showsPreviews: Whether there is a phase `preview` until the object has loaded: with the stored object at
        ///     once, even if it is stale, or otherwise with the part of an image that has arrived. Previews cost decodes.
        ///   - synchronizer: The synchronizer that loads; nil for that of the environment. If it changes, the view loads again.
        ///   - transaction: How the view changes from phase to phase, such as `Transaction(animation: .default)`.
        ///   - content: What to show in each phase, and an action that loads again after a failure. The action has no
        ///     effect in other phases.
        public init(
            _ resource: R?, showsPreviews: Bool = false, synchronizer: Synchronizer? = nil,
            transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (Phase, _ retry: @escaping @MainActor () -> Void) -> Content
        ) {
            self.resource = resource
            identity = resource?.identity
            self.showsPreviews = showsPreviews
            ownSynchronizer = synchronizer
            self.transaction = transaction
            self.content = content
        }

        /// Creates a view whose content does not offer to load again.
        public init(
            _ resource: R?, showsPreviews: Bool = false, synchronizer: Synchronizer? = nil,
            transaction: Transaction = Transaction(), @ViewBuilder content: @escaping (Phase) -> Content
        ) {
            self.init(
                resource, showsPreviews: showsPreviews, synchronizer: synchronizer, transaction: transaction
            ) { phase, _ in content(phase) }
        }

        /// The content of the current phase.
        public var body: some View {
            let synchronizer = ownSynchronizer ?? sharedSynchronizer
            // The stack makes one view of any content. The task of an empty view would never start, and the task of a
            // conditional view would restart with each branch.
            ZStack {
                content(
                    model.phase(for: resource, identity: identity, from: synchronizer, changingBy: transaction),
                    { model.retry() })
            }
            .task(id: ResourceModel<R>.Key(resource, identity: identity, synchronizer: synchronizer)) {
                await model.follow(resource, identity: identity, from: synchronizer, showsPreviews: showsPreviews)
            }
        }
    }

    /// Loads for a ``ResourceView`` while its task runs.
    @MainActor
    final class ResourceModel<R: Resource>: ObservableObject {
        /// Distinguishes resources and their synchronizers. Another key means another task.
        struct Key: Equatable {
            private let identity: ResourceIdentity?
            private let variant: ResourceVariant?
            private let synchronizer: ObjectIdentifier

            init(_ resource: R?, identity: ResourceIdentity?, synchronizer: Synchronizer) {
                self.identity = identity
                variant = resource?.variant
                self.synchronizer = ObjectIdentifier(synchronizer)
            }
        }

        @Published private var phase = ResourceBinding<R>.Phase.empty
        private var key: Key?
        /// The number of tasks started so far, which identifies the latest.
        private(set) var followed = 0
        private var transaction = Transaction()
        /// Whether a load is starting. The view has already shown its first phase: a loading state, or an object in memory.
        private var isStarting = false
        private var binding: ResourceBinding<R>?
        /// The synchronizer of the binding.
        private var synchronizer: Synchronizer?

        nonisolated init() {}

        /// The current phase. If the resource's task has not started yet, it is the object in memory, or else `loading`.
        func phase(
            for resource: R?, identity: ResourceIdentity?, from synchronizer: Synchronizer,
            changingBy transaction: Transaction
        ) -> ResourceBinding<R>.Phase {
            self.transaction = transaction
            if key == Key(resource, identity: identity, synchronizer: synchronizer) { return phase }
            guard let resource, let identity else { return .empty }
            return synchronizer.objectInMemory(for: resource, identity: identity).map { .success($0) } ?? .loading
        }

        /// Loads, and waits until the task is cancelled because the view disappears or shows another resource.
        func follow(
            _ resource: R?, identity: ResourceIdentity?, from synchronizer: Synchronizer, showsPreviews: Bool = false
        ) async {
            followed += 1
            let mine = followed
            key = Key(resource, identity: identity, synchronizer: synchronizer)
            isStarting = true
            binding(to: synchronizer).load(resource, identity: identity, showsPreviews: showsPreviews)
            isStarting = false
            for await _ in AsyncStream(Never.self, { _ in }) {}  // It ends when the task is cancelled.
            // A later task may have started before this one ends. The load in flight then belongs to the later task.
            if mine == followed { binding?.cancel() }
        }

        /// Loads again after a failure.
        func retry() {
            binding?.retry()
        }

        private func binding(to synchronizer: Synchronizer) -> ResourceBinding<R> {
            if let binding, self.synchronizer === synchronizer { return binding }
            binding?.cancel()
            let binding = ResourceBinding<R>(synchronizer: synchronizer) { [weak self] phase in
                guard let self else { return }
                withTransaction(self.isStarting ? Transaction() : self.transaction) { self.phase = phase }
            }
            (self.binding, self.synchronizer) = (binding, synchronizer)
            return binding
        }
    }
#endif
