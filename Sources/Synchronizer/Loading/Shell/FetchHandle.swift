import Foundation

/// A fetch that may proceed or be cancelled before and while it starts.
struct FetchHandle: Sendable {
    private enum State: Sendable {
        case idle
        /// Told to proceed during the call that starts it.
        case toldToProceed
        case started(any Fetch)
        case cancelled
    }

    private let state = Locked(State.idle)
    /// Whether an earlier fetch of the load has looked up.
    var isRepeated = false

    func isSame(as other: FetchHandle) -> Bool { state.isSame(as: other.state) }

    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// The fetch, while it runs.
    var fetch: (any Fetch)? {
        state.withLock { if case .started(let fetch) = $0 { fetch } else { nil } }
    }

    func started(_ fetch: any Fetch) {
        let before = state.withLock { state in
            defer { if case .cancelled = state {} else { state = .started(fetch) } }
            return state
        }
        switch before {
        case .cancelled: fetch.cancel()
        case .toldToProceed: fetch.proceed()
        case .idle, .started: break
        }
    }

    func proceed() {
        let fetch: (any Fetch)? = state.withLock { state in
            if case .started(let fetch) = state { return fetch }
            if case .idle = state { state = .toldToProceed }
            return nil
        }
        fetch?.proceed()
    }

    func cancel() {
        let fetch: (any Fetch)? = state.withLock { state in
            defer { state = .cancelled }
            if case .started(let fetch) = state { return fetch }
            return nil
        }
        fetch?.cancel()
    }
}
