import Foundation
import HTTPCaching

/// The right to ask the network for a response while other processes wait for it.
package struct Lease: Sendable, Hashable {
    /// What the lease is for: one request target, and the credentials it is sent with.
    package let key: String
    /// Grows with each lease of the key. A store accepts nothing from a lease once a later one has been granted.
    package let token: UInt64

    package init(key: String, token: UInt64) {
        self.key = key
        self.token = token
    }
}

/// What a store answers when a fetch asks for a lease.
package enum LeaseAnswer: Sendable {
    case granted(Lease)
    /// Another process, or another instance, holds the lease.
    case held
    /// The store cannot tell now: the fetch asks the network without a lease.
    case unavailable
}

/// A store that several processes share, and that grants leases: of all processes that need a response, one asks the network.
///
/// Calls may block for a bounded time, and come on any background thread.
package protocol LeasingStore: ResponseStore {
    /// Asks for a lease that expires after the duration (in seconds).
    func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer

    /// Gives a lease back, and wakes those that wait for it. It has no effect if the lease has expired.
    func release(_ lease: Lease)

    /// Calls the handler once, on a background thread, when the lease of a key may be free: it was released, it expired, its
    /// holder died, or the limit (in seconds) passed. Returns what cancels the wait.
    func waitForRelease(
        of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable () -> Void
    ) -> @Sendable () -> Void

    /// Stores a response, unless a later lease of the key has been granted.
    func store(_ response: StoredResponse, _ cached: CachedURLResponse, under lease: Lease) -> Int64?

    /// Replaces everything but the body of an entry, unless a later lease of the key has been granted.
    func update(_ entry: StoredEntry, to response: StoredResponse, under lease: Lease)
}
