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
    /// A fresh object in memory appears in the first frame.
    public struct ResourceView<R: Resource, Content: View>: View {
        /// What to show.
        public typealias Phase = ResourceBinding<R>.Phase

        private let resource: R?
        /// Computed once for each value of the view, while the body is evaluated for each phase.
        private let identity: ResourceIdentity?
        private let showsPreviews: Bool
        private let synchronizer: Synchronizer
        private let transaction: Transaction
        private let content: (Phase) -> Content
        @StateObject private var model: ResourceModel<R>

        /// - Parameters:
        ///   - resource: The resource; nil shows the phase `empty`.
        ///   - showsPreviews: Whether there is a phase `preview` until the object has loaded: with the stored object at
        ///     once, even if it is stale, or otherwise with the part of an image that has arrived. Previews cost
        ///     decodes.
        ///   - synchronizer: The synchronizer that loads. It is taken when the view first appears.
        ///   - transaction: How the view changes from phase to phase, such as `Transaction(animation: .default)`.
        ///   - content: What to show in each phase.
        public init(
            _ resource: R?, showsPreviews: Bool = false, synchronizer: Synchronizer = .shared,
            transaction: Transaction = Transaction(),
            @ViewBuilder content: @escaping (Phase) -> Content
        ) {
            self.resource = resource
            identity = resource?.identity
            self.showsPreviews = showsPreviews
            self.synchronizer = synchronizer
            self.transaction = transaction
            self.content = content
            _model = StateObject(wrappedValue: ResourceModel(synchronizer: synchronizer))
        }

        /// The content of the current phase.
        public var body: some View {
            // The stack makes one view of any content. The task of an empty view would never start, and the task of a
            // conditional view would restart with each branch.
            ZStack { content(model.phase(for: resource, identity: identity, changingBy: transaction)) }
                .task(id: ResourceModel<R>.Key(resource, identity)) {
                    await model.follow(resource, identity: identity, showsPreviews: showsPreviews)
                }
        }
    }

    /// Loads for a ``ResourceView`` while its task runs.
    @MainActor
    final class ResourceModel<R: Resource>: ObservableObject {
        /// Distinguishes resources. Another key means another task.
        struct Key: Equatable {
            private let identity: ResourceIdentity?
            private let variant: ResourceVariant?

            init(_ resource: R?, _ identity: ResourceIdentity?) {
                self.identity = identity
                variant = resource?.variant
            }
        }

        @Published private var phase = ResourceBinding<R>.Phase.empty
        private let synchronizer: Synchronizer
        private var key: Key?
        /// The number of tasks started so far, which identifies the latest.
        private(set) var followed = 0
        private var transaction = Transaction()
        private lazy var binding = ResourceBinding<R>(synchronizer: synchronizer) { [weak self] phase in
            guard let self else { return }
            withTransaction(self.transaction) { self.phase = phase }
        }

        nonisolated init(synchronizer: Synchronizer) {
            self.synchronizer = synchronizer
        }

        /// The current phase: for a resource whose task has not started yet, the object in memory.
        func phase(
            for resource: R?, identity: ResourceIdentity?, changingBy transaction: Transaction
        ) -> ResourceBinding<R>.Phase {
            self.transaction = transaction
            if key == Key(resource, identity) { return phase }
            guard let resource, let identity else { return .empty }
            return synchronizer.cachedObject(for: resource, identity: identity).map { .success($0) } ?? .loading
        }

        /// Loads, and waits until the task is cancelled because the view disappears or shows another resource.
        func follow(_ resource: R?, identity: ResourceIdentity?, showsPreviews: Bool = false) async {
            followed += 1
            let mine = followed
            key = Key(resource, identity)
            binding.load(resource, identity: identity, showsPreviews: showsPreviews)
            for await _ in AsyncStream(Never.self, { _ in }) {}  // It ends when the task is cancelled.
            // A later task may have started before this one ends. What is in flight then belongs to the later task.
            if mine == followed { binding.cancel() }
        }
    }
#endif
