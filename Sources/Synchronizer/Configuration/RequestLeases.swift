import Foundation

/// How processes that share a cache send one request for a response that several of them need.
///
/// Before a cacheable request goes to the network, its load takes a lease from the cache. The loads of other processes that need
/// the same response wait, and are answered from the cache. A load that waits holds neither a thread nor a network slot. If a
/// stale response may be used while it is revalidated (``Synchronizer/Configuration/staleWhileRevalidate``), loads use it and do
/// not wait.
///
/// If the holder's request fails, or its response is not stored, the waiting loads send their own requests at once, without
/// leases. If the holder dies or takes too long, one of the waiting loads takes over the lease. A late response of the old
/// holder does not replace a newer one. After a removal of your own (an unsafe request, ``Synchronizer/invalidate(_:)``,
/// ``Synchronizer/removeAll()``), a load does not wait for a request that may have been sent before the removal.
///
/// Loads whose body goes to a file take no leases. Neither do requests with an unsafe method, with a `Range`, with
/// conditions of their own, or with a directive or policy that requires the server. If a load follows a redirect, its request for
/// the target takes no lease. `SQLiteURLCache` grants leases to the processes of one machine, and `ValkeyURLCache` to those of
/// several. A stock `URLCache` grants none.
public struct RequestLeases: Sendable, Hashable {
    /// Seconds after which a lease expires, even if its holder still waits for the server. Then another load sends the request too.
    /// More than an hour counts as an hour.
    public var duration: TimeInterval = 5

    /// Total seconds that a load waits for other processes. After that it sends its request without a lease. Choose a longer time
    /// than ``duration``: otherwise, no waiting load can take over a lease that expires. More than an hour counts as an hour.
    public var maximumWait: TimeInterval = 10

    /// Creates the default limits.
    public init() {}
}
