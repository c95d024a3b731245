import Foundation
import HTTPCaching

/// The right to ask the network for a response while other processes wait for it.
package struct Lease: Sendable, Hashable {
    /// What the lease is for: one request target, and the credentials it is sent with. Its first line is the URL.
    package let key: String
    /// Distinguishes the lease from other leases of the key.
    package let token: UInt64
    /// Whether another process may have stored a response since the fetch looked it up. Then the fetch looks up again before it
    /// asks the network. True if the store cannot tell.
    package let followsAnother: Bool
    /// Whether the local level of this machine granted the lease, because the level that machines share could not be asked.
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
    /// The store cannot tell now, or another fetch of this process holds the lease: the fetch asks the network without a lease.
    /// Loads of one process are coalesced. A load that is not coalesced with another one may not use its response, so it must not
    /// wait for that load.
    case unavailable
}

/// How a wait for the holder of a lease ended.
package enum LeaseEnd: Sendable, Hashable {
    /// The holder gave the lease back. From now on, lookups find the entries that the holder has stored. If these entries do not
    /// help, the waiting fetches all ask the network without a lease.
    case released
    /// The lease may be free: it expired, its holder died, another holder has it now, or the limit passed. The waiting fetches
    /// look up, and ask for the lease again: one of them gets it. A store that is not sure uses this case, too.
    case vacant
}

/// A store that several processes share, and that grants leases: of all processes that need a response, one asks the network.
///
/// It refuses a response if the stored response that it would replace was requested later, or if another process has removed
/// the entries of its URL since the request. So the response of a late holder replaces no newer response.
///
/// Calls come on any background thread. They may block for a bounded time.
package protocol LeasingStore: ResponseStore {
    /// Asks for a lease that expires after the duration (in seconds). A process may hold one lease of a key.
    func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer

    /// Gives a lease back. Wakes the loads that wait for it once lookups find the entries that were stored under the lease. Has no
    /// effect if a later lease has been granted. Does not wait for the disk or the network.
    func release(_ lease: Lease)

    /// Gives a lease back before there is a result, because the load was cancelled: one of the waiting loads gets it
    /// (``LeaseEnd/vacant``).
    func abandon(_ lease: Lease)

    /// Calls the handler once, on a background thread, when the holder of a lease has given it back, or may have lost it; at the
    /// latest after the limit (in seconds). Lookups that begin in the handler find the entries that the holder has stored. Returns
    /// a closure that cancels the wait.
    func waitForRelease(
        of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
    ) -> @Sendable () -> Void
}
