import Foundation

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
