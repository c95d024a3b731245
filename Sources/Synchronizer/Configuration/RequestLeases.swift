import Foundation

/// How processes that share a cache send one request for a response that several of them need.
///
/// Before a cacheable request goes to the network, its load takes a lease from the cache. The loads of other processes that need
/// the same response wait, and are answered from the cache. A load that waits holds neither a thread nor a network slot. Where a
/// stale response may be used while it is revalidated (``Synchronizer/Configuration/staleWhileRevalidate``), it is used, and
/// nothing waits.
///
/// If the holder's response was not stored, or it failed, the waiting loads send their own requests at once, without
/// leases. If the holder dies or takes too long, one of them takes its place, and the late response replaces no newer
/// one. After a removal of your own (an unsafe request, ``Synchronizer/invalidate(_:)``, ``Synchronizer/removeAll()``),
/// a load does not wait for a request that may have been sent before the removal.
///
/// Loads whose body goes to a file take no leases. Neither do requests with an unsafe method, with a `Range`, with
/// conditions of their own, or with a directive or policy that requires the server. `SQLiteURLCache` grants leases to
/// the processes of one machine, and `ValkeyURLCache` to those of several. A stock `URLCache` grants none.
public struct RequestLeases: Sendable, Hashable {
    /// Seconds after which a lease expires, although its holder still waits for the server: then another load asks, too.
    public var duration: TimeInterval = 5

    /// Seconds that a load waits for other processes, all in all. Then it asks without a lease.
    public var maximumWait: TimeInterval = 5

    /// Creates the default limits.
    public init() {}
}
