import Foundation
import HTTPCaching

/// The right to ask the network for a response while other processes wait for it.
package struct Lease: Sendable, Hashable {
    /// What the lease is for: one request target, and the credentials it is sent with. Its first line is the URL.
    package let key: String
    /// Tells it from other leases of the key.
    package let token: UInt64
    /// Whether another process may have stored a response since this one last looked: then the fetch looks up again before it
    /// asks the network. A store that cannot tell says true.
    package let followsAnother: Bool
    /// Whether the level of this machine granted it, because the level that machines share could not be asked.
    package var isLocal = false

    package init(key: String, token: UInt64, followsAnother: Bool = true) {
        self.key = key
        self.token = token
        self.followsAnother = followsAnother
    }
}

/// What a store answers when a fetch asks for a lease.
package enum LeaseAnswer: Sendable, Hashable {
    case granted(Lease)
    /// Another process holds the lease.
    case held
    /// The store cannot tell now, or another fetch of this process holds the lease: the fetch asks the network without one.
    /// Loads of one process are coalesced. A load that is not must not wait for another one, whose response it may not use.
    case unavailable
}

/// How a wait for the holder of a lease ended.
package enum LeaseEnd: Sendable, Hashable {
    /// The holder gave the lease back. From now on, lookups find the entries that the holder has stored. If these entries do not
    /// help, the waiting fetches all ask the network without a lease.
    case released
    /// The lease may be free: it expired, its holder died, another holder has it now, or the limit passed. The waiting fetches
    /// look up, and ask for the lease again: one of them gets it. A store that is not sure says this, too.
    case vacant
}

/// A store that several processes share, and that grants leases: of all processes that need a response, one asks the network.
///
/// It refuses a response that was requested before one that is stored in its place, and before another process removed the
/// entries of its URL. So the response of a late holder replaces no newer one.
///
/// Calls may block for a bounded time, and come on any background thread.
package protocol LeasingStore: ResponseStore {
    /// Asks for a lease that expires after the duration (in seconds). A process may hold one lease of a key.
    func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer

    /// Gives a lease back, and wakes the loads that wait for it once lookups find the entries that were stored under it. It has no
    /// effect if a later lease has been granted. Does not wait for the disk or the network.
    func release(_ lease: Lease)

    /// Gives a lease back before there is a result, because the load was cancelled: one of the waiting loads gets it
    /// (``LeaseEnd/vacant``).
    func abandon(_ lease: Lease)

    /// Calls the handler once, on a background thread, when the holder of a lease gave it back, or may have lost it; after the
    /// limit (in seconds) at the latest. Lookups that begin in the handler find what the holder has stored. Returns a
    /// closure that cancels the wait.
    func waitForRelease(
        of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
    ) -> @Sendable () -> Void
}
