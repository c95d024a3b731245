import Foundation
import HTTPCaching

/// The leases of a store, and the keys for which they are of no use.
final class Leasing: Sendable {
    let store: any LeasingStore
    let limits: RequestLeases
    private let time: any TimeSource
    /// When the latest response of a key turned out to answer one request only.
    private let unhelpful = Locked(LRUList<String, Date>())

    private static let limit = 1_000
    /// Seconds for which such a key takes no leases.
    private static let memory: TimeInterval = 60

    /// Nil if the store grants no leases, or none are wanted.
    init?(_ store: (any ResponseStore)?, limits: RequestLeases?, time: any TimeSource) {
        guard let limits, let store = store as? any LeasingStore else { return nil }
        (self.store, self.limits, self.time) = (store, limits.clamped, time)
    }

    /// Whether the response of the key may answer other requests, too. False for a while after one that did not.
    func mayHelpOthers(_ key: String) -> Bool {
        unhelpful.withLock { unhelpful in
            guard unhelpful.count > 0, let since = unhelpful[key] else { return true }
            return abs(time.now.timeIntervalSince(since)) >= Self.memory
        }
    }

    /// Notes whether the response of a key answers other requests, too.
    func note(_ key: String, helpsOthers: Bool) {
        unhelpful.withLock { unhelpful in
            if !helpsOthers {
                unhelpful.insert(time.now, for: key)
            } else if unhelpful.count > 0 {
                unhelpful.remove(key)
            }
            if unhelpful.count > Self.limit, let oldest = unhelpful.leastRecentlyUsed { unhelpful.remove(oldest) }
        }
    }
}

extension RequestLeases {
    /// The same limits, each between zero and an hour. Dates can't be calculated with infinite ones.
    fileprivate var clamped: RequestLeases {
        var limits = self
        limits.duration = max(0, min(duration, 3600))
        limits.maximumWait = max(0, min(maximumWait, 3600))
        return limits
    }
}
