/// What was made invalid lately (RFC 9111 §4.4), for answers that were asked for before: those must not be stored.
final class InvalidationLog: Sendable {
    /// A moment in the order of invalidations.
    typealias Mark = Int

    private struct State {
        var last = 0
        var keys = LRUList<String, Int>()
        /// What is older than this has been forgotten.
        var forgotten = 0
    }

    private static let limit = 1_000
    private let state = Locked(State())

    var now: Mark { state.withLock { $0.last } }

    func note(_ keys: [String]) {
        state.withLock { state in
            for key in keys {
                state.last += 1
                state.keys.insert(state.last, for: key)
                guard state.keys.count > Self.limit, let oldest = state.keys.leastRecentlyUsed else { continue }
                state.forgotten = max(state.forgotten, state.keys.remove(oldest) ?? 0)
            }
        }
    }

    /// Notes that all there is was made invalid.
    func noteEverything() {
        state.withLock { state in
            state.last += 1
            state.forgotten = state.last
            state.keys = LRUList()
        }
    }

    /// Whether the key was made invalid after the mark. Of what has been forgotten everything is taken to be.
    func isInvalid(_ key: String, since mark: Mark) -> Bool {
        state.withLock { $0.keys[key].map { $0 > mark } ?? (mark < $0.forgotten) }
    }
}
