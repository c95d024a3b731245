import Foundation

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
    package var order = ResponseOrder()
    /// Whether it is a stale response that was used at once, and that the server validates in the background.
    package var isBeingRevalidated = false

    package init(body: Data, response: ResponseHead, freshUntil: Date, trace: LoadTrace) {
        self.body = body
        self.response = response
        self.freshUntil = freshUntil
        self.trace = trace
    }
}

/// Which of two responses is newer: the one whose request was sent later (RFC 9111 §4).
package struct ResponseOrder: Sendable {
    /// When the server was asked for the response, or confirmed it.
    package var requested: Date
    /// Counts the fetches of a loader that have got a response. It decides between requests of the same moment.
    var ended = 0

    package init(requested: Date = .distantPast, ended: Int = 0) {
        (self.requested, self.ended) = (requested, ended)
    }

    /// A moment that has not come yet proves nothing: the clock was set back, or it is that of another machine.
    func isNewer(than other: ResponseOrder, at now: Date) -> Bool {
        requested <= now && (requested, ended) > (other.requested, other.ended)
    }
}
