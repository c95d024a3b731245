import Foundation

/// Sends requests through one `URLSession`, which it keeps for good: sessions are expensive.
package final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let redirects: Redirects
    private let additionalFields: [String: String]
    private let cookies: HTTPCookieStorage?
    private let cookieChanges: CookieChanges
    private let responseCookies: ResponseCookies
    private let idleTimer: IdleTimer
    /// Seconds for which nothing need be heard of a transfer whose request does not say so itself.
    private let idleLimit: TimeInterval

    /// Who follows redirects.
    package enum Redirects: Sendable {
        /// Nobody: a redirect is reported as the final response.
        case reported
        /// The session, with credentials kept to their origin. Such a session stores by itself, too.
        case followed
    }

    package init(
        configuration: URLSessionConfiguration, delegate: SessionDelegate, redirects: Redirects,
        time: any TimeSource = SystemTime()
    ) {
        let own = configuration.copy() as? URLSessionConfiguration ?? configuration
        cookieChanges = configuration.httpCookieStorage.map(CookieChanges.of) ?? CookieChanges()
        responseCookies = ResponseCookies(takingOverFrom: own, cookieChanges)
        idleLimit = own.takeIdleLimit()
        idleTimer = IdleTimer(time: time)
        session = URLSession(configuration: own, delegate: delegate, delegateQueue: .forDelegate())
        self.delegate = delegate
        self.redirects = redirects
        delegate.sessionStores.withLock { $0 = redirects == .followed }
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
        let (request, limit) = request.dividingIdleLimit(idleLimit)
        let task = session.dataTask(with: request)
        let transfer = URLSessionTransfer(
            session: session, task: task, request: request, delegate: delegate, redirects: redirects,
            cookies: request.httpShouldHandleCookies ? responseCookies : ResponseCookies(),
            idleTimer: limit.map { ($0, idleTimer) }, receive: receive)
        delegate.transfers.withLock { $0[ObjectIdentifier(task)] = transfer }
        if let limit, limit < .infinity { idleTimer.begin(transfer) }
        task.resume()
        return transfer
    }

    package func sessionCookies(for request: URLRequest) -> String? {
        cookieChanges.read { impliedFields(for: request)["Cookie"] } ?? "being set \(UUID())"
    }

    package func impliedFields(for request: URLRequest) -> [String: String] {
        guard request.httpShouldHandleCookies, let cookies, cookies.mayHaveCookies, let url = request.url,
            let sent = cookies.cookies(for: url), !sent.isEmpty
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
    private let cookies: ResponseCookies
    /// What ends the transfer when it is idle; nil where the session does.
    private let idleTimer: (limit: TimeInterval, timer: IdleTimer)?
    private let state: Locked<State>

    fileprivate struct State {
        /// Nil once the transfer has finished or was cancelled: nothing is reported after that.
        var receive: (@Sendable (TransferEvent) -> Void)?
        /// Of the hop under way, as it was made here: the task's own may have fields that the session has added.
        var request: URLRequest
        var hasResponse = false
        var wasHeard = false
        /// Whether the session is done with it, and its end only remains to be reported.
        var hasEnded = false
    }

    init(
        session: URLSession, task: URLSessionDataTask, request: URLRequest, delegate: SessionDelegate,
        redirects: URLSessionTransport.Redirects, cookies: ResponseCookies, idleTimer: (TimeInterval, IdleTimer)?,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        self.session = session
        self.task = task
        self.delegate = delegate
        self.redirects = redirects
        self.cookies = cookies
        self.idleTimer = idleTimer
        state = Locked(State(receive: receive, request: request))
    }

    func report(_ event: TransferEvent) {
        // Nothing of the answer has come yet: a server could go on like that for ever.
        if case .response(let response) = event, response.isInterim { return }
        let (receive, isHeadMissing) = state.withLock { state in
            defer { state.note(event) }
            return (state.receive, event.isSuccess && !state.hasResponse)
        }
        // On Linux the session keeps the head of a redirect that leads nowhere to itself.
        if isHeadMissing, let response = task.response, !response.isInterim {
            cookies.keep(from: response)
            receive?(.response(response))
        }
        if case .response(let response) = event { cookies.keep(from: response) }
        receive?(event)
        if case .finished = event { idleTimer?.timer.end(self) }
    }

    /// The session is done with it, which is reported on another queue.
    func end(_ error: (any Error)?, on queue: DispatchQueue) {
        state.withLock { $0.hasEnded = true }
        queue.async { self.report(.finished(error)) }
    }

    func cancel() {
        if takeReceiver() != nil { task.cancel() }
        idleTimer?.timer.end(self)
    }

    private func takeReceiver() -> (@Sendable (TransferEvent) -> Void)? {
        state.withLock { state in
            defer { state.receive = nil }
            return state.receive
        }
    }

    func willCache(_ proposed: CachedURLResponse, decided: @escaping @Sendable (CachedURLResponse?) -> Void) {
        delegate.urlSession(session, dataTask: task, willCacheResponse: proposed, completionHandler: decided)
    }

    /// The request that the session is to go on with; nil makes the redirect the final response.
    func redirected(by response: HTTPURLResponse) -> URLRequest? {
        cookies.keep(from: response)
        guard redirects == .followed, let next = Redirect.request(from: state.withLock({ $0.request }), to: response)
        else { return nil }
        state.withLock { $0.request = next }
        report(.redirected(to: next))
        return next
    }

    /// What the session is to store by itself; nothing once the transfer was cancelled.
    func stored(_ proposed: CachedURLResponse) -> CachedURLResponse? {
        let decision = StoringDecision(proposed)
        report(.storing(decision))
        return decision.decided
    }
}

extension URLSessionTransfer: IdleTimer.Transfer {
    var idleLimit: TimeInterval { idleTimer?.limit ?? .infinity }

    func takeWasHeard() -> Bool {
        state.withLock { state in
            defer { state.wasHeard = false }
            return state.wasHeard
        }
    }

    /// On the delegate's queue, so that it comes after what is waiting to be reported; that may be something after all.
    func idleLimitPassed() {
        session.delegateQueue.addOperation { [self] in
            if takeWasHeard() {
                idleTimer?.timer.begin(self)
                return
            }
            guard !state.withLock({ $0.hasEnded }), let receive = takeReceiver() else { return }
            task.cancel()
            receive(.finished(URLError(.timedOut)))
        }
    }
}

extension URLSessionTransfer.State {
    fileprivate mutating func note(_ event: TransferEvent) {
        wasHeard = true
        switch event {
        case .response: hasResponse = true
        case .data, .redirected, .storing, .servedFromSessionCache: break
        case .finished: receive = nil
        }
    }
}

extension TransferEvent {
    fileprivate var isSuccess: Bool { if case .finished(nil) = self { true } else { false } }
}
