/// The recent invalidations (RFC 9111 §4.4). Responses to requests sent before an invalidation must not be stored.
final class InvalidationLog: Sendable {
    /// A position in the order of invalidations.
    typealias Mark = Int

    private struct State {
        var last = 0
        var keys = LRUList<String, Int>()
        /// Invalidations up to this position have been evicted.
        var evicted = 0
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
                state.evicted = max(state.evicted, state.keys.remove(oldest) ?? 0)
            }
        }
    }

    /// Notes that all entries were invalidated.
    func noteEverything() {
        state.withLock { state in
            state.last += 1
            state.evicted = state.last
            state.keys = LRUList()
        }
    }

    /// Whether the key was invalidated after the mark; true if that is not known any more.
    func isInvalid(_ key: String, since mark: Mark) -> Bool {
        state.withLock { $0.keys[key].map { $0 > mark } ?? (mark < $0.evicted) }
    }
}

/// The keys whose entries are about to be removed. The caller must not wait for the disk, so lookups miss these keys until
/// the entries are gone.
final class PendingRemovals: Sendable {
    private let keys = Locked<Set<String>>([])

    func add(_ added: [String]) {
        keys.withLock { $0.formUnion(added) }
    }

    func contains(_ key: String) -> Bool {
        keys.withLock { !$0.isEmpty && $0.contains(key) }
    }

    func end(_ key: String) {
        keys.withLock { _ = $0.remove(key) }
    }
}
