import Foundation
public import Synchronizer

/// Binds a view, or anything else that shows something, to a resource. It belongs to the main actor.
///
/// ```swift
/// let binding = ResourceBinding<ImageResource>(synchronizer: synchronizer) { phase in
///     picture.texture = phase.object.map(texture(of:))
/// }
/// binding.load(ImageResource(url: url))      // again with another resource when the cell is used again
/// binding.cancel()                           // when it goes off screen
/// ```
///
/// A new resource cancels the load of the previous one, whose answer is never shown. An object in memory is shown before
/// ``load(_:showsPreviews:)`` returns. Releasing the binding cancels its load.
@MainActor
public final class ResourceBinding<R: Resource> {
    /// What to show.
    public enum Phase: Sendable {
        /// Nothing was requested, or the load was cancelled before anything arrived.
        case empty
        /// The object is loading.
        case loading
        /// The object is loading, and this preview is available: the stored object, even if it is stale, or the part of an
        /// image that has arrived. Only if previews were requested.
        case preview(R.ParsedObject)
        /// The current object.
        case success(R.ParsedObject)
        /// Why there is no object.
        case failure(any Error)

        /// The visible object: the object or its preview.
        public var object: R.ParsedObject? {
            switch self {
            case .preview(let object), .success(let object): object
            case .empty, .loading, .failure: nil
            }
        }
    }

    private struct Key: Equatable {
        let identity: ResourceIdentity
        let variant: ResourceVariant
    }

    private typealias Token = BindingMachine<Key>.Token

    private let synchronizer: Synchronizer
    private let show: @MainActor (Phase) -> Void
    private var machine = BindingMachine<Key>()
    private let current = CurrentLoad()
    /// What was requested last.
    private var latest: (resource: R, showsPreviews: Bool)?
    /// The phase that was shown last. If a load was cancelled before anything was shown, it is `empty`.
    public private(set) var phase = Phase.empty

    /// - Parameters:
    ///   - synchronizer: The synchronizer that loads.
    ///   - show: Called on the main actor with each change. It should not retain its view.
    public init(synchronizer: Synchronizer = .shared, show: @escaping @MainActor (Phase) -> Void) {
        self.synchronizer = synchronizer
        self.show = show
    }

    /// Loads a resource and shows it; nil shows nothing.
    ///
    /// A resource that is already loading is not requested again, with or without previews. A resource that is shown is
    /// loaded again and stays visible in the meantime; if it is fresh, the cache answers.
    ///
    /// - Parameters:
    ///   - resource: The resource to load.
    ///   - showsPreviews: Whether to show previews as ``Phase/preview(_:)``: the stored object at once, even if it is
    ///     stale, or otherwise the part of an image that has arrived, if its format allows it. Previews cost decodes.
    ///     They never replace an object that is already shown.
    public func load(_ resource: R?, showsPreviews: Bool = false) {
        load(resource, identity: resource?.identity, showsPreviews: showsPreviews)
    }

    /// Does the same as ``load(_:showsPreviews:)`` for a caller that already knows the identity.
    func load(_ resource: R?, identity: ResourceIdentity?, showsPreviews: Bool) {
        latest = resource.map { ($0, showsPreviews) }
        let key = resource.flatMap { resource in identity.map { Key(identity: $0, variant: resource.variant) } }
        switch machine.ask(key) {
        case .goOn: return
        case .clear:
            current.replace(with: nil)
            change(to: .empty)
        case .load(let token):
            guard let resource, let identity else { return }
            begin(resource, identity: identity, token: token, showsPreviews: showsPreviews)
        }
    }

    /// Loads the resource again if its load has failed. Has no effect otherwise, so a button may call it more than once.
    ///
    /// The cache policy of the resource's request applies: if the server allowed its error response to be cached, the cache may
    /// answer with it again.
    public func retry() {
        guard case .failure = phase, let latest else { return }
        load(latest.resource, showsPreviews: latest.showsPreviews)
    }

    private func begin(_ resource: R, identity: ResourceIdentity, token: Token, showsPreviews: Bool) {
        let cancel =
            showsPreviews
            ? follow(resource, identity: identity, token: token)
            : load(resource, identity: identity, token: token)
        // The load may already have its answer, or the answer's handler may have replaced it.
        guard machine.isLoading(token) else { return cancel() }
        // The previous load is cancelled only now. Both may share a transfer, for example for two sizes of an image.
        current.replace(with: cancel)
        if machine.showsNothing { change(to: .loading) }
    }

    private func load(_ resource: R, identity: ResourceIdentity, token: Token) -> CancelLoading {
        synchronizer.loadResource(resource, identity: identity) { [weak self] result in
            switch result {
            case .success(let object): self?.finish(token, result: .success(object))
            case .error(let error): self?.finish(token, result: .failure(error))
            case .noData:
                let context = SynchronizerError.Context(url: identity.request.url, trace: LoadTrace())
                self?.finish(token, result: .failure(SynchronizerError.noData(context)))
            }
        }
    }

    private func follow(_ resource: R, identity: ResourceIdentity, token: Token) -> CancelLoading {
        synchronizer.followResource(resource, identity: identity) { [weak self] step in
            switch step {
            case .success(let update):
                switch update.phase {
                case .stored: self?.preview(token, object: update.object, isPart: false)
                case .preview: self?.preview(token, object: update.object, isPart: true)
                case .fresh, .unchanged, .stale: self?.finish(token, result: .success(update.object))
                }
            case .failure(let error): self?.finish(token, result: .failure(error.unwrapped))
            }
        }
    }

    private func preview(_ token: Token, object: R.ParsedObject, isPart: Bool) {
        if machine.previewed(token, isPart: isPart) { change(to: .preview(object)) }
    }

    private func finish(_ token: Token, result: Result<R.ParsedObject, any Error>) {
        switch result {
        case .success(let object):
            if machine.answered(token, isObject: true) { end(.success(object)) }
        case .failure(let error):
            if machine.answered(token, isObject: false) { end(.failure(error)) }
        }
    }

    private func end(_ phase: Phase) {
        current.replace(with: nil)
        change(to: phase)
    }

    /// Cancels the load in flight. The visible object stays.
    public func cancel() {
        guard machine.cancel() else { return }
        current.replace(with: nil)
        if case .loading = phase { phase = .empty }
    }

    private func change(to phase: Phase) {
        self.phase = phase
        show(phase)
    }
}

/// Cancels the load that it holds when it gets another one, and when it is released.
private final class CurrentLoad: Sendable {
    private let cancel = Locked<CancelLoading?>(nil)

    func replace(with next: CancelLoading?) {
        let last = cancel.withLock { cancel in
            defer { cancel = next }
            return cancel
        }
        last?()
    }

    deinit {
        replace(with: nil)
    }
}
