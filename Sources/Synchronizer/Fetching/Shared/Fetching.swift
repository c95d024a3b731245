import Foundation

/// Gets the bytes of a response, from the cache or from the network: what Loading sees of Fetching.
package protocol Fetching: Sendable {
    /// Looks up, and reports either the end or that the network is needed. May block on the disk, so it is not called
    /// on a caller's thread without ``FetchOptions/skipsLookUp``; may call `receive` before it returns. `receive` is
    /// called serially, with one `.finished` as the last event, unless it was cancelled before.
    func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch

    /// What tells the cookies that the session would send with a request besides its own fields from others; nil if there
    /// are none. Never waits for the disk.
    func sessionCookies(for request: URLRequest) -> String?

    /// Drops what is stored for a request. Blocks on the disk.
    func removeStored(for request: URLRequest)

    /// Drops what is stored for these requests: at once for whoever looks from now on, and from the disk soon.
    func removeStoredSoon(for requests: [URLRequest])

    /// Drops all that is stored; what is under way is not stored any more. Blocks on the disk.
    func removeAllStored()
}

extension Fetching {
    package func sessionCookies(for request: URLRequest) -> String? { nil }

    package func removeStoredSoon(for requests: [URLRequest]) {
        DispatchQueue.global(qos: .userInitiated).async { requests.forEach(removeStored) }
    }
}

/// A fetch under way.
package protocol Fetch: AnyObject, Sendable {
    /// Goes on after `.needsNetwork`; without effect at any other time.
    func proceed()

    /// The stored response that may be shown while the network is asked, though it is stale; nil if there is none.
    /// May block on the disk.
    func storedMeanwhile() -> Fetched?

    /// Ends it. Once it has returned no event is reported, except one that is being reported right now.
    func cancel()
}

package struct FetchOptions: Hashable, Sendable {
    /// The largest body that is accepted, in bytes.
    package var maximumBodySize: Int
    /// What the session adds to the request to say who asks: whoever sends other cookies shares nothing.
    package var sessionCookies: String?
    /// Whether a response that is stale while it is revalidated (RFC 5861 §3) is not the answer, but what the
    /// revalidation brings.
    package var awaitsRefresh: Bool
    /// Whether nothing is known to be stored, and the request may be sent at once: the disk is not touched, and
    /// `.needsNetwork` not reported.
    package var skipsLookUp = false

    package init(maximumBodySize: Int, awaitsRefresh: Bool = false, sessionCookies: String? = nil) {
        self.sessionCookies = sessionCookies
        self.maximumBodySize = maximumBodySize
        self.awaitsRefresh = awaitsRefresh
    }
}

package enum FetchEvent: Sendable {
    /// The cache cannot answer: nothing is sent before `proceed()`. At most once a fetch. If nothing is stored, the fetch
    /// may be dropped, and another be begun later with ``FetchOptions/skipsLookUp``.
    case needsNetwork(nothingStored: Bool)
    case redirected(to: URL)
    /// The head of the response whose body comes from the network now, with its expected length where it is known.
    case response(ResponseHead, expectedBytes: Int?)
    /// The body goes on after so many bytes, which have come before, to that length where it is known.
    case resumed(after: Int, expectedBytes: Int?)
    case received(Data)
    /// So many bytes of the request's body were sent so far, of so many if that is known.
    case sent(Int, of: Int?)
    /// The session answered a challenge with a credential that the request does not show: what comes is for those who
    /// wait now, and for nobody later.
    case authorized
    /// A response was stored, or updated, with so many bytes of body.
    case stored(Int)
    /// An answer has made invalid what is stored under these cache keys (RFC 9111 §4.4), and what is under way for them.
    case invalidated([String])
    case finished(Result<Fetched, SynchronizerError>)
}

/// A response and its body: of status 200–299, the body not empty.
package struct Fetched: Sendable {
    package var body: Data
    package var response: ResponseHead
    /// Until when an object made from it may be used without asking again; `.distantPast` if it may not be at all.
    package var freshUntil: Date
    /// Whether it is for those who wait, and for nobody later: it was made for what the session adds to requests by
    /// itself, such as the cookies of whoever is logged in. Then it is for the store to judge each time, which knows
    /// them, and nothing to keep in memory.
    package var isForThisLoadOnly = false
    /// Says where it came from, and why.
    package var trace: LoadTrace

    package init(body: Data, response: ResponseHead, freshUntil: Date, trace: LoadTrace) {
        self.body = body
        self.response = response
        self.freshUntil = freshUntil
        self.trace = trace
    }
}
