import Foundation

/// Sends requests and reports what comes back. It does not cache and does not follow redirects.
package protocol Transport: Sendable {
    /// Sends a request. `receive` is called serially, on a background thread: with any number of `.data` after one
    /// `.response`, which is final (interim heads are not reported), and with one `.finished` at the end, unless the transfer was cancelled before.
    func send(_ request: URLRequest, receive: @escaping @Sendable (TransferEvent) -> Void) -> any Transfer

    /// The fields that are sent with a request besides its own (cookies, languages, …), as far as they are known.
    /// May wait for the disk.
    func impliedFields(for request: URLRequest) -> [String: String]

    /// What tells the cookies that are sent with a request besides its own from others; nil if there are none. Never
    /// waits: while they are being changed it is something that nobody else is told.
    func sessionCookies(for request: URLRequest) -> String?
}

extension Transport {
    package func sessionCookies(for request: URLRequest) -> String? { impliedFields(for: request)["Cookie"] }
}

/// A request under way.
package protocol Transfer: AnyObject, Sendable {
    /// Ends it. No event is reported once this has returned, except one that is being reported right now.
    func cancel()

    /// Asks the session's delegate what to store of a response (`willCacheResponse`): the response, another, or nothing.
    func willCache(_ proposed: CachedURLResponse, decided: @escaping @Sendable (CachedURLResponse?) -> Void)
}

package enum TransferEvent: Sendable {
    /// The head of a response; for `file:` and `data:` URLs there is no HTTP in it.
    case response(URLResponse)
    case data(Data)
    /// The session follows a redirect by itself, with this request.
    case redirected(to: URLRequest)
    /// The session is about to store the answer by itself. Whoever hears of it decides before returning.
    case storing(StoringDecision)
    /// The session did not use the network for it: before `.finished`, where the session tells.
    case servedFromSessionCache
    /// The end: complete, or with the error that cut it short.
    case finished((any Error)?)
}

/// What a session that stores by itself is to store of an answer: nothing, unless somebody says so.
package final class StoringDecision: Sendable {
    /// What the session's delegate wants to be stored.
    package let proposed: CachedURLResponse
    private let response = Locked<CachedURLResponse?>(nil)

    package init(_ proposed: CachedURLResponse) {
        self.proposed = proposed
    }

    package var decided: CachedURLResponse? {
        get { response.withLock { $0 } }
        set { response.withLock { $0 = newValue } }
    }
}
