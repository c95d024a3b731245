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
/// ``load(_:)`` returns. When the binding goes away its load is cancelled.
@MainActor
public final class ResourceBinding<R: Resource> {
    /// What is to be shown.
    public enum Phase {
        /// Nothing was asked for, or the load was cancelled.
        case empty
        /// The object is on its way.
        case loading
        /// The object, as it is now.
        case success(R.ParsedObject)
        /// Why there is none.
        case failure(any Error)

        /// The object, if there is one.
        public var object: R.ParsedObject? {
            if case .success(let object) = self { object } else { nil }
        }
    }

    private struct Key: Equatable {
        let request: URLRequest
        let variant: ResourceVariant
    }

    private let synchronizer: Synchronizer
    private let show: @MainActor (Phase) -> Void
    private var machine = BindingMachine<Key>()
    private let current = CurrentLoad()
    /// What was given to be shown last.
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
    /// Asked for again, a resource whose load is under way is not begun anew; one that is shown is loaded again, which
    /// its freshness may answer, and stays to be seen meanwhile.
    public func load(_ resource: R?) {
        switch machine.ask(resource.map { Key(request: $0.request(), variant: $0.variant) }) {
        case .goOn: return
        case .clear:
            current.replace(with: nil)
            change(to: .empty)
        case .load(let token, let keepsObject):
            guard let resource else { return }
            begin(resource, token, keepsObject)
        }
    }

    private func begin(_ resource: R, _ token: BindingMachine<Key>.Token, _ keepsObject: Bool) {
        current.replace(with: nil)
        // An object in memory answers at once; the view is told that it loads only if there is none.
        let cancel = synchronizer.loadResource(resource) { [weak self] result in
            self?.finish(token, result)
        }
        guard machine.isLoading(token) else { return }
        current.replace(with: cancel)
        if !keepsObject { change(to: .loading) }
    }

    private func finish(_ token: BindingMachine<Key>.Token, _ result: SynchronizerResult<R.ParsedObject>) {
        switch result {
        case .success(let object):
            if machine.answered(token, isObject: true) { end(.success(object)) }
        case .error(let error):
            if machine.answered(token, isObject: false) { end(.failure(error)) }
        case .noData:
            if machine.answered(token, isObject: false) { end(.failure(ResourceBindingError.noData)) }
        }
    }

    private func end(_ phase: Phase) {
        current.replace(with: nil)
        change(to: phase)
    }

    /// Gives up the load under way. What is shown stays as it is.
    public func cancel() {
        if machine.cancel() { current.replace(with: nil) }
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
