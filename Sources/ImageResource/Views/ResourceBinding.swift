import Foundation
public import Synchronizer

/// Binds something that shows, such as a view, to the resource that it is to show. It belongs to the main actor.
///
/// ```swift
/// let binding = ResourceBinding<ImageResource>(synchronizer: synchronizer) { phase in
///     picture.texture = phase.object.map(texture(of:))
/// }
/// binding.load(ImageResource(url: url))      // again with another resource when the cell is used again
/// binding.cancel()                           // when it goes off screen
/// ```
///
/// A new resource cancels the load of the one before, whose answer is never shown. An object in memory is shown before
/// ``load(_:showsPreviews:)`` returns. When the binding goes away its load is cancelled.
@MainActor
public final class ResourceBinding<R: Resource> {
    /// What is to be shown.
    public enum Phase: Sendable {
        /// Nothing was asked for, or it was given up before anything came.
        case empty
        /// The object is on its way.
        case loading
        /// The object is on its way, and this can be shown meanwhile: the stored one, though it may be stale, or what has
        /// arrived of an image. Only if previews were asked for.
        case preview(R.ParsedObject)
        /// The object, as it is now.
        case success(R.ParsedObject)
        /// Why there is none.
        case failure(any Error)

        /// What there is to be seen: the object, or a preview of it.
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
    /// What was given to be shown last; `empty`, too, where it was to load and that was given up.
    public private(set) var phase = Phase.empty

    /// - Parameters:
    ///   - synchronizer: What loads.
    ///   - show: Called with each change, on the main actor; it should not keep its view alive.
    public init(synchronizer: Synchronizer = .shared, show: @escaping @MainActor (Phase) -> Void) {
        self.synchronizer = synchronizer
        self.show = show
    }

    /// Loads a resource and shows it; nil shows nothing.
    ///
    /// Asked for again, a resource whose load is under way is not begun anew, with or without previews; one that is shown is loaded again, which
    /// its freshness may answer, and stays to be seen meanwhile.
    ///
    /// - Parameters:
    ///   - resource: What to load.
    ///   - showsPreviews: Whether to show what there is until the answer comes, as ``Phase/preview(_:)``: the stored
    ///     object at once, though it may be stale; else, of an image whose format allows it, what has arrived so far,
    ///     which costs decodes. Never in place of an object that is shown already.
    public func load(_ resource: R?, showsPreviews: Bool = false) {
        load(resource, resource?.identity, showsPreviews: showsPreviews)
    }

    /// As ``load(_:showsPreviews:)``, for a caller that has asked for the identity already.
    func load(_ resource: R?, _ identity: ResourceIdentity?, showsPreviews: Bool) {
        let key = resource.flatMap { resource in identity.map { Key(identity: $0, variant: resource.variant) } }
        switch machine.ask(key) {
        case .goOn: return
        case .clear:
            current.replace(with: nil)
            change(to: .empty)
        case .load(let token):
            guard let resource, let identity else { return }
            begin(resource, identity, token, showsPreviews)
        }
    }

    private func begin(_ resource: R, _ identity: ResourceIdentity, _ token: Token, _ showsPreviews: Bool) {
        let cancel = showsPreviews ? follow(resource, identity, token) : load(resource, identity, token)
        // It may have its answer, or have been replaced by what was shown.
        guard machine.isLoading(token) else { return cancel() }
        // Only now the load before is cancelled: it may be the same transfer, for an image of another size.
        current.replace(with: cancel)
        if machine.showsNothing { change(to: .loading) }
    }

    private func load(_ resource: R, _ identity: ResourceIdentity, _ token: Token) -> CancelLoading {
        synchronizer.loadResource(resource, identity: identity) { [weak self] result in
            switch result {
            case .success(let object): self?.finish(token, .success(object))
            case .error(let error): self?.finish(token, .failure(error))
            case .noData: self?.finish(token, .failure(ResourceBindingError.noData))
            }
        }
    }

    private func follow(_ resource: R, _ identity: ResourceIdentity, _ token: Token) -> CancelLoading {
        synchronizer.followResource(resource, identity: identity) { [weak self] step in
            switch step {
            case .success(let update):
                switch update.phase {
                case .stored: self?.preview(token, update.object, isPart: false)
                case .preview: self?.preview(token, update.object, isPart: true)
                case .fresh, .unchanged: self?.finish(token, .success(update.object))
                }
            case .failure(.emptyBody): self?.finish(token, .failure(ResourceBindingError.noData))
            case .failure(let error): self?.finish(token, .failure(error))
            }
        }
    }

    private func preview(_ token: Token, _ object: R.ParsedObject, isPart: Bool) {
        if machine.previewed(token, isPart: isPart) { change(to: .preview(object)) }
    }

    private func finish(_ token: Token, _ result: Result<R.ParsedObject, any Error>) {
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

    /// Gives up the load under way. What is shown stays as it is.
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

/// Why a binding shows nothing, where no load has failed.
public enum ResourceBindingError: Error, Sendable {
    /// The server answered with success and an empty body.
    case noData
}

/// Cancels the load that it holds when it is given another, and when it goes away.
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
