import Foundation

/// A task of the session, and the receiver of its events.
final class URLSessionTransfer: Transfer {
    let task: URLSessionDataTask
    /// The receiver of the additional events of a session that caches by itself; nil in managed mode.
    let native: (any NativeReports)?
    /// See ``NativeTransport/perform(_:cacheTime:receive:)``.
    let cacheTime: TimeInterval?
    private let session: URLSession
    private let policy: SessionDelegate
    private let state: Locked<State>

    private struct State {
        /// Nil once the transfer has finished or was cancelled: nothing is reported after that.
        var receive: (@Sendable (TransferEvent) -> Void)?
        /// The head that a response was created from, for a policy that looks at responses.
        var shown: (response: URLResponse, head: ResponseHead)?
        /// Whether the end is about to be reported, before the session has finished the task.
        var isInterrupted = false
        /// Why the server is not trusted. The session itself reports only that the task was cancelled.
        var refusal: TLSFailure?
    }

    init(
        _ task: URLSessionDataTask, of session: URLSession, policy: SessionDelegate,
        native: (any NativeReports)? = nil, cacheTime: TimeInterval? = nil,
        receive: @escaping @Sendable (TransferEvent) -> Void
    ) {
        self.cacheTime = cacheTime
        self.task = task
        self.session = session
        self.policy = policy
        self.native = native
        state = Locked(State(receive: receive))
    }

    func report(_ event: TransferEvent) {
        let receive = state.withLock { $0.isInterrupted ? nil : $0.receive }
        receive?(event)
    }

    /// Shows a response to the policy, which then passes it to ``received(_:)``.
    func show(_ head: ResponseHead) -> URLResponse {
        let response = head.urlResponse
        state.withLock { $0.shown = (response, head) }
        return response
    }

    func received(_ response: URLResponse) {
        let shown = state.withLock { $0.shown.take() }
        report(.response(shown?.response === response ? shown?.head ?? ResponseHead(response) : ResponseHead(response)))
    }

    /// The session has finished the task. Reports the end on `queue`, or at once if that is nil.
    func end(_ error: (any Error)?, on queue: DispatchQueue?) {
        guard let queue else { return end(error) }
        queue.async { [self] in end(error) }
    }

    /// Ends the transfer because the network was switched off. The end is reported like that of ``end(_:on:)``, and no other event
    /// is reported beside it.
    ///
    /// - Parameter queue: the delegate's queue.
    func interrupt(on queue: DispatchQueue, completions: DispatchQueue?) {
        queue.async { [self] in
            state.withLock { $0.isInterrupted = true }
            end(NetworkSwitchedOff(), on: completions)
            task.cancel()  // the session reports this end, too, but later
        }
    }

    private func end(_ error: (any Error)?) {
        if let measured = NetworkTrace(of: task) { state.withLock { $0.receive }?(.measured(measured)) }
        let refusal = state.withLock { $0.refusal }
        takeReceiver()?(.finished(refusal?.error ?? error?.asURLError))
    }

    /// The server is not trusted. The transfer fails with this error, whatever error the session reports.
    func refuse(_ failure: TLSFailure) {
        state.withLock { $0.refusal = failure }
    }

    func cancel() {
        native?.cancel()
        if takeReceiver() != nil { task.cancel() }
    }

    func setPaused(_ isPaused: Bool) {
        task.setPaused(isPaused)
    }

    private func takeReceiver() -> (@Sendable (TransferEvent) -> Void)? {
        state.withLock { $0.receive.take() }
    }

    func willCache(
        _ head: ResponseHead, body: Data, cacheTime: TimeInterval?,
        decided: @escaping @Sendable (StorageDecision) -> Void
    ) {
        policy.decideStorage(
            of: head, body: body, cacheTime: cacheTime, session: session, task: task, decided: decided)
    }
}

extension Error {
    /// The same error as a `URLError`, if it is one. For some `data:` URLs, Foundation on Linux reports an `NSError` that can't be
    /// cast.
    fileprivate var asURLError: any Error {
        let error = self as NSError
        let code: URLError.Code? = URLError.Code(rawValue: error.code)  // fails only on Linux
        guard let code, error.domain == NSURLErrorDomain, !(self is URLError) else { return self }
        return URLError(code, userInfo: error.userInfo)
    }
}

extension SessionDelegate {
    /// Asks the delegate what to store of a response.
    package func decideStorage(
        of head: ResponseHead, body: Data, cacheTime: TimeInterval?, session: URLSession,
        task: @autoclosure () -> URLSessionDataTask, decided: @escaping @Sendable (StorageDecision) -> Void
    ) {
        guard isSubclass else {
            let injection = injection.with(cacheTime: cacheTime)
            return decided(.proposed(injecting: injection.value(forStatus: head.status, fields: head.fields)))
        }
        let proposed = ProposedResponse.make(head, body: body).proposing(cacheTime: cacheTime)
        urlSession(session, dataTask: task(), willCacheResponse: proposed) {
            decided(StorageDecision($0, insteadOf: proposed))
        }
    }
}

extension SessionDelegate {
    /// See ``Transport/mayProlong(_:cacheTime:)``.
    func mayProlong(_ head: ResponseHead, cacheTime: TimeInterval?) -> Bool {
        isSubclass || injection.with(cacheTime: cacheTime).value(forStatus: head.status, fields: head.fields) != nil
    }
}

/// The events of a task in a session that looks up, stores and follows redirects by itself.
protocol NativeReports: AnyObject, Sendable {
    /// The request that the session continues with; nil makes the redirect the final response.
    func redirected(by response: HTTPURLResponse) -> URLRequest?

    /// What the session stores; nothing once the transfer was cancelled.
    func stored(_ proposed: CachedURLResponse) -> CachedURLResponse?

    /// The session did not use the network.
    func servedFromCache()

    /// Nothing is reported any more.
    func cancel()
}
