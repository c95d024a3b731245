import Foundation

/// A fetch that may proceed or be cancelled before and while it starts.
struct FetchHandle: Sendable {
    private enum Phase: Sendable {
        case idle
        /// Told to proceed during the call that starts it.
        case toldToProceed
        case started(any Fetch)
        case cancelled
    }

    private struct State: Sendable {
        let isRepeated: Bool
        var phase = Phase.idle
        var progress = LoadProgress(received: 0)
    }

    /// The only stored property, so that the handle takes one word in the record of a load.
    private let state: Locked<State>

    init(isRepeated: Bool) {
        state = Locked(State(isRepeated: isRepeated))
    }

    /// Whether an earlier fetch of the load has begun a lookup.
    var isRepeated: Bool { state.withLock { $0.isRepeated } }

    func isSame(as other: FetchHandle) -> Bool { state.isSame(as: other.state) }

    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0.phase { true } else { false } }
    }

    /// The fetch, while it runs.
    var fetch: (any Fetch)? {
        state.withLock { if case .started(let fetch) = $0.phase { fetch } else { nil } }
    }

    /// The bytes that have been sent and received.
    var progress: LoadProgress { state.withLock { $0.progress } }

    /// Changes the progress, and returns it.
    func note(_ change: (inout LoadProgress) -> Void) -> LoadProgress {
        state.withLock { state in
            change(&state.progress)
            return state.progress
        }
    }

    func started(_ fetch: any Fetch) {
        let before = state.withLock { state in
            defer { if case .cancelled = state.phase {} else { state.phase = .started(fetch) } }
            return state.phase
        }
        switch before {
        case .cancelled: fetch.cancel()
        case .toldToProceed: fetch.proceed()
        case .idle, .started: break
        }
    }

    func proceed() {
        let fetch: (any Fetch)? = state.withLock { state in
            if case .started(let fetch) = state.phase { return fetch }
            if case .idle = state.phase { state.phase = .toldToProceed }
            return nil
        }
        fetch?.proceed()
    }

    func cancel() {
        let fetch: (any Fetch)? = state.withLock { state in
            defer { state.phase = .cancelled }
            if case .started(let fetch) = state.phase { return fetch }
            return nil
        }
        fetch?.cancel()
    }
}
