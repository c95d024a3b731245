import Foundation
import HTTPCaching

/// The leases of a store, and the keys for which they are of no use.
final class Leasing: Sendable {
    let store: any LeasingStore
    let limits: RequestLeases
    private let time: any TimeSource
    /// When the latest response of a key turned out to answer one request only.
    private let unshared = Locked(LRUList<String, Date>())

    private static let limit = 1_000
    /// Seconds for which such a key takes no leases.
    private static let memory: TimeInterval = 60

    /// Nil if the store grants no leases, or none are wanted.
    init?(_ store: (any ResponseStore)?, limits: RequestLeases?, time: any TimeSource) {
        guard let limits, let store = store as? any LeasingStore else { return nil }
        (self.store, self.limits, self.time) = (store, limits, time)
    }

    /// Whether the latest response of the key answered one request only.
    func isUnshared(_ key: String) -> Bool {
        unshared.withLock { unshared in
            guard unshared.count > 0, let since = unshared[key] else { return false }
            return abs(time.now.timeIntervalSince(since)) < Self.memory
        }
    }

    /// Notes whether the response of a key answers other requests, too.
    func note(_ key: String, isShared: Bool) {
        unshared.withLock { unshared in
            if isShared { if unshared.count > 0 { unshared.remove(key) } } else { unshared.insert(time.now, for: key) }
            if unshared.count > Self.limit, let oldest = unshared.leastRecentlyUsed { unshared.remove(oldest) }
        }
    }
}
