/// What the cache did with a server's response: ``LoadTrace/storing``.
public enum ResponseStoring: Hashable, Sendable {
    /// The response was stored, or the entry that it confirms was updated. The disk is written a moment later.
    case stored
    /// The response was not stored.
    case notStored(Reason)

    /// Why a response was not stored.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The configuration has no `URLCache`.
        case noCache = "there is no cache"
        /// Responses to the method of the request are not stored (RFC 9111 §3).
        case method = "responses to this method are not stored"
        /// Responses with this status are not stored.
        case status = "responses with this status are not stored"
        /// The request has `Cache-Control: no-store`.
        case requestNoStore = "the request says no-store"
        /// The response has `Cache-Control: no-store`.
        case noStore = "the response says no-store"
        /// The response has `Vary: *`, which no request matches.
        case variesOnEverything = "the response varies on everything"
        /// Its status is not cacheable by default, and it has no lifetime.
        case notCacheable = "nothing in the response makes it cacheable"
        /// ``SessionDelegate`` passed nil to the completion handler of `willCacheResponse`.
        case refusedByDelegate = "the delegate refused it"
        /// The body exceeds the limit of the load, or what the cache accepts.
        case tooLarge = "it is too large"
        /// The body was truncated. Its beginning may be kept in memory, for the next attempt.
        case incomplete = "it is incomplete"
        /// It was invalidated, while it arrived or later, the cache already had a response that was requested later, or the load
        /// was cancelled.
        case invalidated = "it was invalidated"
        /// The resource could not parse the body. The response was stored, and then removed.
        case undecodable = "it could not be parsed"
        /// The session obtained it with a credential that the request does not show.
        case personal = "the session answered a challenge"
        /// The latest write failed: the disk is full, or there was another error. The cache's memory may have the response.
        case diskFailed = "the disk is full or does not work"
        /// Native mode: `URLSession` did not store it, or its delegate refused it.
        case session = "URLSession did not store it"
    }
}

extension ResponseStoring: CustomStringConvertible {
    /// One clause for a log.
    public var description: String {
        switch self {
        case .stored: "stored"
        case .notStored(let reason): "not stored: \(reason.rawValue)"
        }
    }
}
