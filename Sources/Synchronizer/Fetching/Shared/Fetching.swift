import Foundation

/// Gets the bytes of a response, from the cache or from the network. Loading uses fetchers through this protocol.
package protocol Fetching: Sendable {
    /// Looks the request up, and reports either the end or that the fetch needs the network. It may block on the disk, so do not
    /// call it on a caller's thread except for ``FetchOptions/Purpose/sendAfterMiss``. It may call `receive` before it returns.
    /// `receive` is called serially, with one `.finished` or `.waited` as the last event, unless the fetch is cancelled before.
    func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch

    /// A value that identifies the cookies that the session adds to a request; nil if there are none. Never waits for the
    /// disk.
    func sessionCookies(for request: URLRequest) -> String?

    /// Keeps an object next to the stored body that it was made from. Blocks on the disk.
    func keepObject(_ data: Data, as name: String, of source: DerivedSource)

    /// Removes the entries for a request, because a body could not be parsed. Blocks on the disk.
    ///
    /// - Parameter body: the ``FetchOptions/body`` of the fetch. After a redirect, `request` has the last URL, but may not have the
    ///   method with which that URL was requested.
    func removeStored(for request: URLRequest, body: String?)

    /// Invalidates the entries for these requests: lookups miss them at once, and the disk is changed soon after.
    func removeStoredSoon(for requests: [URLRequest])

    /// Removes all entries. Responses in flight are not stored either. Blocks on the disk.
    func removeAllStored()
}

extension Fetching {
    package func sessionCookies(for request: URLRequest) -> String? { nil }

    package func keepObject(_ data: Data, as name: String, of source: DerivedSource) {}

    package func removeStoredSoon(for requests: [URLRequest]) {
        DispatchQueue.global(qos: .userInitiated).async { requests.forEach { removeStored(for: $0, body: nil) } }
    }
}

/// A fetch in flight.
package protocol Fetch: AnyObject, Sendable {
    /// Continues after `.needsNetwork`; has no effect at any other time.
    func proceed()

    /// A stored response to show while the server validates it, even if it is stale; nil if there is none. May block on the
    /// disk.
    func provisional() -> Fetched?

    /// Cancels the fetch. After this returns no event is reported, except one that is being reported right now.
    func cancel()
}
