import Foundation
import FoundationNetworking

/// Decides what follows a response head, on the engine's thread.
extension TaskCore {
    func received(_ head: CurlResponseHead, of exchange: Exchange) -> HeadAction {
        pool.engine.assertIsCurrent()
        if !pool.options.reportsRedirects, let current = state.withLock({ $0.currentRequest }),
            let next = SessionRedirects.request(after: current, head: head)
        {
            guard redirects < SessionRedirects.limit else {
                return .fail(
                    URLError(
                        .httpTooManyRedirects,
                        because: "the server redirected more than \(SessionRedirects.limit) times"))
            }
            deliver(.redirect(head, next))
            return .wait
        }
        if let action = answer(head, to: exchange) { return action }
        deliver(.head(head))
        return .deliver
    }

    /// Sends the request that follows a redirect.
    func follow(_ request: URLRequest) {
        pool.engine.assertIsCurrent()
        guard !isOver else { return }
        redirects += 1
        authentication.leave()
        state.withLock { $0.currentRequest = request }
        replaceTransfer(request)
    }

    /// Discards the response that has arrived, and sends another request.
    func replaceTransfer(_ request: URLRequest) {
        transfer?.discard()
        transfer = nil
        let keepsBody = request.httpMethod == originalRequest.httpMethod
        switch (keepsBody ? uploadBody : nil) ?? RequestBody(of: request) {
        case .stream, .asked:
            deliver(.needsBodyStream)
            pool.startDecisionTimeout(self)
        case let body: send(request, body: body)
        }
    }

    private func send(_ request: URLRequest, body: RequestBody) {
        pool.engine.assertIsCurrent()
        guard !isOver else { return }
        switch exchange(for: request, body: body) {
        case .success(let exchange): pool.start(self, with: exchange)
        case .failure(let error): end(error)
        }
    }

    /// Asks the delegate for a stream: the first one of a streamed upload, or another one, because a stream cannot be read twice.
    func askForBody(delegate: (any URLSessionTaskDelegate)?, session: URLSession, task: URLSessionDataTask) {
        guard let decision = state.withLock({ $0.mailbox.awaitDecision() }) else { return }
        let decide: @Sendable (InputStream?) -> Void = { [self] stream in
            guard decided(decision) else { return }
            let body = stream.map { RequestBody.stream(BodyStream($0), length: nil) }
            pool.perform { [self] in
                guard let body, let request = state.withLock({ $0.currentRequest }) else {
                    let reason = "the delegate returned no stream for the body"
                    return end(URLError(.requestBodyStreamExhausted, because: reason))
                }
                send(request, body: body)
            }
        }
        guard let delegate else { return decide(nil) }
        delegate.urlSession(session, task: task, needNewBodyStream: decide)
    }
}
