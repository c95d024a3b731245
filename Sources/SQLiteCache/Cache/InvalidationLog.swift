import Foundation
import SynchronizerSupport

/// The recent invalidations of a cache (RFC 9111 §4.4) by all its users in this process. Responses to requests that were sent
/// before an invalidation must not be stored.
package final class InvalidationLog: Sendable {
    /// A position in the order of invalidations.
    package typealias Mark = Int

    private struct Note {
        var position = 0
        var time = Date.distantPast
    }

    private struct State {
        var last = 0
        var keys = LRUList<String, Note>()
        /// The latest invalidation that was evicted from `keys`.
        var evicted = Note()

        /// The latest invalidation that may concern the key.
        func position(of key: String) -> Mark { (keys[key] ?? evicted).position }

        mutating func note(_ added: [String], at now: Date) {
            for key in added {
                last += 1
                keys.insert(Note(position: last, time: now), for: key)
                guard keys.count > InvalidationLog.limit, let oldest = keys.leastRecentlyUsed,
                    let note = keys.remove(oldest)
                else { continue }
                if note.position > evicted.position { evicted = note }
            }
        }
    }

    private static let limit = 10_000
    private let state = Locked(State())

    package init() {}

    package var now: Mark { access(inFork: 0) { $0.last } }

    package func note(_ keys: [String], at now: Date) {
        access(inFork: ()) { $0.note(keys, at: now) }
    }

    /// Notes the keys that a response invalidates. Returns a new mark, so that these invalidations do not forbid storing the
    /// response itself. If its key was invalidated after `mark` by another response, returns `mark`.
    package func note(_ keys: [String], at now: Date, keeping mark: Mark, of key: String) -> Mark {
        access(inFork: mark) { state in
            let isValid = state.position(of: key) <= mark
            state.note(keys, at: now)
            return isValid ? state.last : mark
        }
    }

    /// Notes that all entries were invalidated.
    package func noteEverything(at now: Date) {
        access(inFork: ()) { state in
            state.last += 1
            state.evicted = Note(position: state.last, time: now)
            state.keys = LRUList()
        }
    }

    /// Whether the key was invalidated after the mark; true if that is not known any more.
    package func isInvalid(_ key: String, since mark: Mark) -> Bool {
        access(inFork: true) { $0.position(of: key) > mark }
    }

    /// Whether the key was invalidated at that time or later; true if that is not known any more.
    package func hasNoted(_ key: String, since time: Date) -> Bool {
        access(inFork: true) { ($0.keys[key] ?? $0.evicted).time >= time }
    }

    /// - Parameter answer: the answer in a forked process, which may lack the thread that holds the lock.
    private func access<Answer>(inFork answer: Answer, _ body: (inout State) -> Answer) -> Answer {
        ForkedProcess.isCurrent ? answer : state.withLock { body(&$0) }
    }
}

// MARK: - Caches that have no log

extension InvalidationLog {
    private struct Reference {
        weak var log: InvalidationLog?
    }

    private static let known = Locked<[ObjectIdentifier: Reference]>([:])

    /// The log of a cache that has no log of its own. The caller must keep the cache for as long as it keeps the log.
    package static func shared(by cache: URLCache) -> InvalidationLog {
        if ForkedProcess.isCurrent { return InvalidationLog() }
        return known.withLock { known in
            if let log = known[ObjectIdentifier(cache)]?.log { return log }
            let log = InvalidationLog()
            known = known.filter { $0.value.log != nil }
            known[ObjectIdentifier(cache)] = Reference(log: log)
            return log
        }
    }
}
