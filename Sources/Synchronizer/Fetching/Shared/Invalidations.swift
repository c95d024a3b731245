import Foundation

/// The recent invalidations (RFC 9111 §4.4). Responses to requests sent before an invalidation must not be stored.
final class InvalidationLog: Sendable {
    /// A position in the order of invalidations.
    typealias Mark = Int

    private struct Note {
        var position = 0
        var time = Date.distantPast
    }

    private struct State {
        var last = 0
        var keys = LRUList<String, Note>()
        /// Invalidations up to this one have been evicted.
        var evicted = Note()
    }

    private static let limit = 1_000
    private let state = Locked(State())

    var now: Mark { state.withLock { $0.last } }

    func note(_ keys: [String], at now: Date) {
        state.withLock { state in
            for key in keys {
                state.last += 1
                state.keys.insert(Note(position: state.last, time: now), for: key)
                guard state.keys.count > Self.limit, let oldest = state.keys.leastRecentlyUsed,
                    let evicted = state.keys.remove(oldest)
                else { continue }
                if evicted.position > state.evicted.position { state.evicted = evicted }
            }
        }
    }

    /// Notes that all entries were invalidated.
    func noteEverything(at now: Date) {
        state.withLock { state in
            state.last += 1
            state.evicted = Note(position: state.last, time: now)
            state.keys = LRUList()
        }
    }

    /// Whether the key was invalidated after the mark; true if that is not known any more.
    func isInvalid(_ key: String, since mark: Mark) -> Bool {
        state.withLock { ($0.keys[key] ?? $0.evicted).position > mark }
    }

    /// Whether the key was invalidated at that time or later; true if that is not known any more.
    func hasNoted(_ key: String, since time: Date) -> Bool {
        state.withLock { ($0.keys[key] ?? $0.evicted).time >= time }
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
