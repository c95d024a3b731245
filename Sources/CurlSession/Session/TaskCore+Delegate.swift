import Foundation
import FoundationNetworking
import SynchronizerSupport

/// Calls the delegate, on its queue.
extension TaskCore {
    struct Listener {
        let session: any TaskOwner
        let task: URLSessionDataTask
        let delegates: Delegates
    }

    /// The receiver of events. Nil before the task has begun, and once its end has been delivered.
    var listener: Listener? {
        state.withLock { state in
            guard let session = state.session, let task = state.task, let delegates = state.delegates else {
                return nil
            }
            return Listener(session: session, task: task, delegates: delegates)
        }
    }

    func perform(_ event: TaskEvent, for listener: Listener) {
        switch event {
        case .sent(let count, let total, let expected):
            listener.delegates.task?.urlSession(
                listener.session, task: listener.task, didSendBodyData: count, totalBytesSent: total,
                totalBytesExpectedToSend: expected)
        case .redirect(let head, let request):
            pool.options.cookies.store(head, for: originalRequest)
            redirect(head, to: request, for: listener)
        case .challenge(let challenge):
            if let head = challenge.head { pool.options.cookies.store(head, for: originalRequest) }
            ask(about: challenge, session: listener.session, task: listener.task, delegate: listener.delegates.task)
        case .needsBodyStream:
            askForBody(delegate: listener.delegates.task, session: listener.session, task: listener.task)
        case .head(let head): deliver(head, to: listener)
        case .data(let data): deliver(data, to: listener)
        case .end(let error): end(with: error, for: listener)
        }
        updateProgress()
    }

    private func deliver(_ head: CurlResponseHead, to listener: Listener) {
        pool.options.cookies.store(head, for: originalRequest)
        let decision = state.withLock { state in
            state.head = head
            return handler == nil && listener.delegates.data != nil ? state.mailbox.awaitDecision() : nil
        }
        guard let decision else { return }
        let decide: @Sendable (URLSession.ResponseDisposition) -> Void = { [self] disposition in
            guard decided(decision), disposition == .cancel else { return }
            listener.task.cancel()
        }
        if let delegate = listener.delegates.curl {
            delegate.urlSession(
                listener.session, dataTask: listener.task, didReceive: head, completionHandler: decide)
        } else if let response {
            listener.delegates.data?.urlSession(
                listener.session, dataTask: listener.task, didReceive: response, completionHandler: decide)
        } else {
            decide(.allow)
        }
    }

    private func deliver(_ data: Data, to listener: Listener) {
        state.withLock { state in
            state.bytesReceived += Int64(data.count)
            state.metrics.bytesDecoded += Int64(data.count)
            guard handler != nil else { return }
            if state.collected.isEmpty { state.collected = data } else { state.collected.append(data) }
        }
        if handler == nil {
            listener.delegates.data?.urlSession(listener.session, dataTask: listener.task, didReceive: data)
        }
        if state.withLock({ $0.mailbox.delivered(data.count) }) {
            pool.perform { [self] in transfer?.goOn() }
        }
    }

    private func redirect(_ head: CurlResponseHead, to request: URLRequest, for listener: Listener) {
        guard let delegate = listener.delegates.task, let response = head.httpURLResponse else {
            return pool.perform { [self] in follow(request) }
        }
        guard let decision = state.withLock({ $0.mailbox.awaitDecision() }) else { return }
        delegate.urlSession(
            listener.session, task: listener.task, willPerformHTTPRedirection: response, newRequest: request
        ) { [self] request in
            guard decided(decision) else { return }
            pool.perform { [self] in
                if let request { follow(request) } else { transfer?.deliverPending() }
            }
        }
    }

    private func end(with error: URLError?, for listener: Listener) {
        let collected = state.withLock { state in
            defer { state.collected = Data() }
            return state.collected
        }
        if let handler {
            handler(error == nil ? collected : nil, error == nil ? response : nil, error)
        } else {
            listener.delegates.task?.urlSession(listener.session, task: listener.task, didCompleteWithError: error)
        }
        // `listener` keeps the session until here, because the task may have had the last reference to it.
        state.withLock { ($0.session, $0.task, $0.delegates) = (nil, nil, nil) }
        listener.session.taskEnded(self)
    }

    /// The response as Foundation's type, created on first access.
    var response: URLResponse? {
        let (response, head) = state.withLock { ($0.response, $0.head) }
        if let response { return response }
        guard let created = head?.httpURLResponse else { return nil }
        state.withLock { $0.response = created }
        return created
    }
}

extension URLError {
    /// The error with the failing URL in its `userInfo`, as Foundation's session reports it.
    func failing(at url: URL?) -> URLError {
        guard let url else { return self }
        var info = userInfo
        info[NSURLErrorFailingURLErrorKey] = url
        return URLError(code, userInfo: info)
    }
}

extension CurlResponseHead {
    /// The head as Foundation's type. Repeated fields are joined by ", ".
    var httpURLResponse: HTTPURLResponse? {
        var joined = JoinedFields()
        for field in fields { joined.add(field.name, value: field.value) }
        return .make(url: url, status: status, version: version, fields: joined.dictionary)
    }
}
