import Foundation
import HTTPCaching

/// Sends requests and reports what comes back. It neither caches nor follows redirects.
package protocol Transport: SessionFields {
    /// Sends a request. `receive` is called serially, on a background thread: with one `.response`, which is never an
    /// interim one, any number of `.data`, and one `.finished` as the last event, unless the transfer was cancelled before.
    func send(_ request: URLRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer

    /// Whether the session's delegate may give a response another lifetime, or make it cacheable, when it has arrived.
    func mayProlong(_ head: ResponseHead, cacheTime: TimeInterval?) -> Bool
}

extension Transport {
    package func mayProlong(_ head: ResponseHead, cacheTime: TimeInterval?) -> Bool { false }
}

/// Ends a transfer because the network was switched off. The error tells such an end from a failure of the network: the switch
/// itself may be on again when the end is noticed.
package struct NetworkSwitchedOff: Error {
    package init() {}
}

/// What a session adds to requests.
package protocol SessionFields: Sendable {
    /// Ends all transfers that use the network with ``NetworkSwitchedOff``.
    func interrupt()

    /// The fields that are sent with a request besides its own (cookies, languages, …), as far as they are known.
    /// May wait for the disk.
    func sessionHeaders(for request: URLRequest) -> [String: String]

    /// The same for a load whose cookies were looked up a moment ago.
    ///
    /// - Parameter cookies: what ``sessionCookies(for:)`` returned for the request.
    func sessionHeaders(for request: URLRequest, knowing cookies: String?) -> [String: String]

    /// A value that identifies the cookies that the session adds to a request; nil if there are none. Never waits: while cookies
    /// are being changed, it returns a value that no other request gets.
    func sessionCookies(for request: URLRequest) -> String?
}

extension SessionFields {
    package func sessionHeaders(for request: URLRequest, knowing cookies: String?) -> [String: String] {
        sessionHeaders(for: request)
    }

    package func sessionCookies(for request: URLRequest) -> String? { sessionHeaders(for: request)[FieldName.cookie] }
}

package protocol Cancellable: AnyObject, Sendable {
    /// Cancels the transfer. After this returns, no event is reported, except one that is being reported at that moment.
    func cancel()

    /// Stops receiving the body, or resumes. The transfer still reports the bytes that it has received. By default without effect.
    func setPaused(_ isPaused: Bool)
}

/// A request in flight.
package protocol Transfer: Cancellable {
    /// Asks the session's delegate what to store of a response (`willCacheResponse`). `cacheTime` is the lifetime that the
    /// resource sets for it.
    func willCache(
        _ head: ResponseHead, body: Data, cacheTime: TimeInterval?,
        decided: @escaping @Sendable (StorageDecision) -> Void)
}

extension Cancellable {
    package func setPaused(_ isPaused: Bool) {}
}

package enum TransferEvent: Sendable {
    /// The head of a response. A second head, as after a challenge, replaces the first one and its body.
    case response(ResponseHead)
    case data(Data)
    /// The bytes of the request's body that were sent so far, and their total if it is known.
    case sent(Int, of: Int?)
    /// The session answered a challenge of the server with a credential: the value of the `Authorization` field that was
    /// sent, or something else that is the same for the same user only.
    case authorized(String)
    /// The network measurements: once, before `.finished`, if the session has them.
    case measured(NetworkTrace)
    /// The end: complete, or with an error.
    case finished((any Error)?)
}

/// What the session's delegate wants stored of a response.
package enum StorageDecision: Sendable {
    case nothing
    /// The response as it was proposed; with this `Cache-Control` in place of its own, if there is one.
    case proposed(injecting: String?)
    /// The response as the delegate changed it, and whether its head differs.
    case replaced(CachedURLResponse, hasOtherHead: Bool)

    /// The decision of a delegate that got `proposed` and completed with `cached`.
    package init(_ cached: CachedURLResponse?, insteadOf proposed: CachedURLResponse) {
        if let cached, cached.storagePolicy != .notAllowed {
            self =
                cached === proposed
                ? .proposed(injecting: nil)
                : .replaced(cached, hasOtherHead: cached.response !== proposed.response)
        } else {
            self = .nothing
        }
    }
}
