#if canImport(SwiftUI)
    public import SwiftUI
    public import Synchronizer

    /// A view of a resource: asks for it when it appears, shows each phase, and cancels when it disappears.
    ///
    /// ```swift
    /// ResourceView(JSONResource<Weather>(url: url)) { phase in
    ///     if let weather = phase.object { WeatherView(weather) } else { ProgressView() }
    /// }
    /// ```
    ///
    /// An object that is in memory and fresh is there in the first frame.
    public struct ResourceView<R: Resource, Content: View>: View {
        /// What is to be shown.
        public typealias Phase = ResourceBinding<R>.Phase

        private let resource: R?
        /// Made once for each value of the view: the body is asked for with each phase.
        private let identity: ResourceIdentity?
        private let showsPreviews: Bool
        private let synchronizer: Synchronizer
        private let transaction: Transaction
        private let content: (Phase) -> Content
        @StateObject private var model: ResourceModel<R>

        /// - Parameters:
        ///   - resource: nil shows the phase `empty`.
        ///   - showsPreviews: whether there is a phase `preview` until the object is there, with the stored one at once,
        ///     though it may be stale, or else what has arrived of an image, which costs decodes.
        ///   - synchronizer: what loads; it is taken when the view first appears.
        ///   - transaction: how the view changes from phase to phase, such as `Transaction(animation: .default)`.
        ///   - content: what is shown in each phase.
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

        /// The content of the present phase.
        public var body: some View {
            // One view, whatever the content is: the task of an empty one would never begin, that of a conditional one would
            // begin anew with each of its branches.
            ZStack { content(model.phase(for: resource, identity, changingBy: transaction)) }
                .task(id: ResourceModel<R>.Key(resource, identity)) {
                    await model.follow(resource, identity, showsPreviews: showsPreviews)
                }
        }
    }

    /// Loads for a ``ResourceView``, as long as its task runs.
    @MainActor
    final class ResourceModel<R: Resource>: ObservableObject {
        /// What tells resources apart: another one is another task.
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
        /// The number of tasks that have followed so far, which tells the latest from others.
        private(set) var followed = 0
        private var transaction = Transaction()
        private lazy var binding = ResourceBinding<R>(synchronizer: synchronizer) { [weak self] phase in
            guard let self else { return }
            withTransaction(self.transaction) { self.phase = phase }
        }

        nonisolated init(synchronizer: Synchronizer) {
            self.synchronizer = synchronizer
        }

        /// What to show now: for a resource whose task has not begun yet, what is in memory.
        func phase(
            for resource: R?, _ identity: ResourceIdentity?, changingBy transaction: Transaction
        ) -> ResourceBinding<R>.Phase {
            self.transaction = transaction
            if key == Key(resource, identity) { return phase }
            guard let resource, let identity else { return .empty }
            return synchronizer.cachedObject(for: resource, identity: identity).map { .success($0) } ?? .loading
        }

        /// Loads, and waits until the task is cancelled: when the view disappears, or shows another resource.
        func follow(_ resource: R?, _ identity: ResourceIdentity?, showsPreviews: Bool = false) async {
            followed += 1
            let mine = followed
            key = Key(resource, identity)
            binding.load(resource, identity, showsPreviews: showsPreviews)
            for await _ in AsyncStream(Never.self, { _ in }) {}  // It ends when the task is cancelled.
            // A later task may have begun before this one ends; what is under way then belongs to that.
            if mine == followed { binding.cancel() }
        }
    }
#endif
