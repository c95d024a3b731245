import Foundation

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
