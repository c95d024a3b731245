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
    func removeStored(for request: URLRequest)

    /// Invalidates the entries for these requests: lookups miss them at once, and the disk is changed soon after.
    func removeStoredSoon(for requests: [URLRequest])

    /// Removes all entries. Responses in flight are not stored either. Blocks on the disk.
    func removeAllStored()
}

extension Fetching {
    package func sessionCookies(for request: URLRequest) -> String? { nil }

    package func keepObject(_ data: Data, as name: String, of source: DerivedSource) {}

    package func removeStoredSoon(for requests: [URLRequest]) {
        DispatchQueue.global(qos: .userInitiated).async { requests.forEach(removeStored) }
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

/// The options of a fetch. The small ones are last: each of them would take a whole word before a large one, and every load has
/// these options.
package struct FetchOptions: Hashable, Sendable {
    /// The largest accepted body, in bytes.
    package var maximumBodySize: Int
    /// Identifies the cookies that the session adds: requests with different cookies are not coalesced.
    package var sessionCookies: String?
    /// The digest of the request's ``CacheKey``, if its responses may be reused although it has a body.
    package var body: String?
    /// Set if the body goes to a file instead of memory.
    package var file: FileTarget?
    /// See ``Resource/cacheTime``.
    package var cacheTime: TimeInterval?
    /// Whether to wait for the revalidation where a stale response may be used until then (RFC 5861 §3).
    package var awaitsRefresh: Bool
    /// What the fetch is for.
    package var purpose = Purpose.load
    /// Whether objects that are stored next to a response may replace its body: see ``FetchEvent/offered(_:)``.
    package var takesObjects = false
    /// How long the earlier fetches of the load waited for other processes.
    package var waited = LeaseWait()

    package enum Purpose: Hashable, Sendable {
        /// The first fetch of a load.
        case load
        /// A later fetch of a load: the session may have other cookies than ``sessionCookies``.
        case loadAgain
        /// An earlier lookup missed, so the request may be sent at once, without the disk and without `.needsNetwork`.
        case sendAfterMiss
        /// Validates a response that has been used. It does not wait for another process that does the same:
        /// ``FetchEvent/waitsForLease`` is its last event.
        case refresh
    }

    package init(
        maximumBodySize: Int, awaitsRefresh: Bool = false, sessionCookies: String? = nil, file: FileTarget? = nil,
        cacheTime: TimeInterval? = nil
    ) {
        self.file = file
        self.cacheTime = cacheTime
        self.sessionCookies = sessionCookies
        self.maximumBodySize = maximumBodySize
        self.awaitsRefresh = awaitsRefresh
    }
}

package enum FetchEvent: Sendable {
    /// The cache cannot answer; the fetch waits for `proceed()`. At most once for each fetch. If nothing is stored, you may
    /// drop the fetch, and start another one later with ``FetchOptions/Purpose/sendAfterMiss``.
    case needsNetwork(nothingStored: Bool)
    case redirected(to: URL)
    /// Another process requests the response: the fetch waits for it, and needs no network slot.
    case waitsForLease
    /// The wait is over, and so is this fetch: start another one, with ``FetchOptions/waited``.
    case waited(LeaseEnd)
    /// The head of the response whose body arrives from the network now, and the length of that body if known.
    case response(ResponseHead, expectedBytes: Int?)
    /// A stored response answers, and its body has not been read. Reported if ``FetchOptions/takesObjects``.
    case offered(StoredOffer)
    /// The body continues after this many bytes, which arrived earlier; the expected length is nil if it is not known.
    case resumed(after: Int, expectedBytes: Int?)
    case received(Data)
    /// The body goes to a file from now on. Parsers of the arriving body attach themselves before this returns.
    case spooling(BodyTap)
    /// The bytes of the request's body sent so far, and its length if known.
    case sent(Int, of: Int?)
    /// The session answered a challenge with a credential that the request does not show: the response is for the current
    /// subscribers only.
    case authorized
    /// An entry was stored or updated; the bytes of its body.
    case stored(Int)
    /// A response was not stored.
    case notStored(ResponseStoring.Reason)
    /// A response invalidated these cache keys (RFC 9111 §4.4): their entries, and loads in flight.
    case invalidated([String])
    case finished(Result<Fetched, SynchronizerError>)
}

/// A successful response (status 200–299) and its body, which may be empty.
package struct Fetched: Sendable {
    package var body: Data
    /// The body if it is in a file; then ``body`` is empty.
    package var file: BodyFile?
    /// The entry of the store that has the body; nil if it is not stored.
    package var entry: Int64?
    /// The checksum of the body, if the store knows it. If the body was not read, because its objects were accepted, ``body`` is
    /// empty, but this is its checksum.
    package var storedChecksum: UInt64?
    /// The objects that are stored next to the response, if they have not been offered by an event.
    package var offer: StoredOffer?
    package var response: ResponseHead
    /// The time until which an object made from the response may be used; `.distantPast` if each use needs a decision.
    package var freshUntil: Date
    /// Whether the response is for the current subscribers only: it depends on headers that the session adds, such as the
    /// cookies of the logged-in user. Then the memory cache must not keep it, and the store decides about each use.
    package var isForThisLoadOnly = false
    /// Says where the response came from, and why.
    package var trace: LoadTrace

    package init(body: Data, response: ResponseHead, freshUntil: Date, trace: LoadTrace) {
        self.body = body
        self.response = response
        self.freshUntil = freshUntil
        self.trace = trace
    }
}
