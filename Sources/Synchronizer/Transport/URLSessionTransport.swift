import Foundation

/// Sends requests through one `URLSession`, which it keeps for good: sessions are expensive.
package final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let redirects: Redirects
    private let additionalFields: [String: String]
    private let cookies: HTTPCookieStorage?

    /// Who follows redirects.
    package enum Redirects: Sendable {
        /// Nobody: a redirect is reported as the final response.
        case reported
        /// The session, with credentials kept to their origin.
        case followed
    }

    package init(configuration: URLSessionConfiguration, delegate: SessionDelegate, redirects: Redirects) {
        let queue = OperationQueue()
        queue.name = "Synchronizer.session"
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        self.delegate = delegate
        self.redirects = redirects
        additionalFields = Dictionary(
            (configuration.httpAdditionalHeaders ?? [:]).map { ("\($0.key)", "\($0.value)") }, uniquingKeysWith: { $1 })
        cookies = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }

    deinit {
        session.finishTasksAndInvalidate()  // a session keeps its delegate until then
    }

    package func send(
        _ request: URLRequest, receive: @escaping @Sendable (TransferEvent) -> Void
    ) -> any Transfer {
        if let url = request.url, url.isFileURL { return FileTransfer(url, receive: receive) }
        let task = session.dataTask(with: request)
        let transfer = URLSessionTransfer(
            session: session, task: task, delegate: delegate, redirects: redirects, receive: receive)
        delegate.transfers.withLock { $0[ObjectIdentifier(task)] = transfer }
        task.resume()
        return transfer
    }

    package func impliedFields(for request: URLRequest) -> [String: String] {
        guard request.httpShouldHandleCookies, let url = request.url, let sent = cookies?.cookies(for: url),
            !sent.isEmpty
        else { return additionalFields }
        return additionalFields.merging(HTTPCookie.requestHeaderFields(with: sent)) { $1 }
    }
}

/// A task of the session, and who is told of it.
final class URLSessionTransfer: Transfer {
    private let session: URLSession
    private let task: URLSessionDataTask
    private let delegate: SessionDelegate
    private let redirects: URLSessionTransport.Redirects
    private let state: Locked<State>

    fileprivate struct State {
        /// Nil once the transfer has finished or was cancelled: nothing is reported after that.
        var receive: (@Sendable (TransferEvent) -> Void)?
        var hasResponse = false
    }

    init(
        session: URLSession, task: URLSessionDataTask, delegate: SessionDelegate,
        redirects: URLSessionTransport.Redirects, receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        self.session = session
        self.task = task
        self.delegate = delegate
        self.redirects = redirects
        state = Locked(State(receive: receive))
    }

    func report(_ event: TransferEvent) {
        let (receive, isHeadMissing) = state.withLock { state in
            defer { state.note(event) }
            return (state.receive, event.isSuccess && !state.hasResponse)
        }
        // On Linux the session keeps the head of a redirect that leads nowhere to itself.
        if isHeadMissing, let response = task.response { receive?(.response(response)) }
        receive?(event)
    }

    func cancel() {
        let wasOpen = state.withLock { state in
            defer { state.receive = nil }
            return state.receive != nil
        }
        if wasOpen { task.cancel() }
    }

    func willCache(_ proposed: CachedURLResponse, decided: @escaping @Sendable (CachedURLResponse?) -> Void) {
        delegate.urlSession(session, dataTask: task, willCacheResponse: proposed, completionHandler: decided)
    }

    /// The request that the session is to go on with; nil makes the redirect the final response.
    func redirected(to request: URLRequest, by response: HTTPURLResponse) -> URLRequest? {
        switch redirects {
        case .reported: return nil
        case .followed: return Redirect.request(from: task.currentRequest ?? request, to: response)
        }
    }
}

extension URLSessionTransfer.State {
    fileprivate mutating func note(_ event: TransferEvent) {
        switch event {
        case .response: hasResponse = true
        case .data: break
        case .finished: receive = nil
        }
    }
}

extension TransferEvent {
    fileprivate var isSuccess: Bool { if case .finished(nil) = self { true } else { false } }
}
