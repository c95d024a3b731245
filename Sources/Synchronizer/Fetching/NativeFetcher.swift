import Foundation
import HTTPCaching

/// Leaves the cache to `URLSession`: each fetch is one task, and what it reports is the answer.
package final class NativeFetcher: Fetching {
    private let transport: any Transport
    private let cache: URLCache?
    private let time: any TimeSource

    /// - Parameters:
    ///   - transport: its session is to have this cache, and to follow redirects.
    package init(transport: any Transport, cache: URLCache?, time: any TimeSource) {
        self.transport = transport
        self.cache = cache
        self.time = time
    }

    package func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let fetch = NativeFetch(request, transport: transport, cache: cache, time: time, options, receive: receive)
        fetch.start()
        return fetch
    }

    package func sessionCookies(for request: URLRequest) -> String? { transport.impliedFields(for: request)["Cookie"] }

    package func removeStored(for request: URLRequest) {
        cache?.removeCachedResponse(for: request)
    }

    package func removeAllStored() {
        cache?.removeAllCachedResponses()
    }
}

/// A fetch of a ``NativeFetcher``.
final class NativeFetch: Fetch {
    private let request: URLRequest
    private let transport: any Transport
    private let cache: URLCache?
    private let time: any TimeSource
    private let options: FetchOptions
    private let state: Locked<State>

    private struct State {
        /// Nil once the fetch is over.
        var receive: (@Sendable (FetchEvent) -> Void)?
        var sent: Date?
        /// Whether the session says that it did not use the network.
        var isFromCache = false
        var redirects: [URL] = []
        var reception: Reception
        var transfer: (any Transfer)?
    }

    init(
        _ request: URLRequest, transport: any Transport, cache: URLCache?, time: any TimeSource,
        _ options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) {
        self.request = request
        self.transport = transport
        self.cache = cache
        self.time = time
        self.options = options
        state = Locked(State(receive: receive, reception: Reception(maximumBodySize: options.maximumBodySize)))
    }

    func start() {
        let isSupported = ["http", "https", "file", "data"].contains(request.url?.scheme?.lowercased() ?? "")
        guard isSupported else {
            return finish(.failure(.invalidRequest(.init(url: request.url, trace: LoadTrace()))))
        }
        report(.needsNetwork(nothingStored: false))  // what is stored is not known
    }

    func proceed() {
        let now = time.now
        let isFirst = state.withLock { state in
            guard state.receive != nil, state.sent == nil else { return false }
            state.sent = now
            return true
        }
        guard isFirst else { return }
        let transfer = transport.send(request) { [self] in receive($0) }
        let isNeeded = state.withLock { state in
            if state.receive != nil { state.transfer = transfer }
            return state.receive != nil
        }
        if !isNeeded { transfer.cancel() }
    }

    func cancel() {
        takeReceiver().transfer?.cancel()
    }

    func storedMeanwhile() -> Fetched? {
        guard let cached = cache?.cachedResponse(for: request), !cached.data.isEmpty,
            let response = cached.response as? HTTPURLResponse, (200..<300).contains(response.statusCode)
        else { return nil }
        var trace = LoadTrace()
        trace.source = .stale
        trace.reason = "stored by URLSession"
        trace.bytesSpared = cached.data.count
        return Fetched(
            body: cached.data, response: ResponseHead(response), freshUntil: .distantPast, trace: trace)
    }

    private func receive(_ event: TransferEvent) {
        switch event {
        case .response(let response):
            let now = time.now
            let expected = state.withLock { state -> Int? in
                state.reception.receive(response, at: now)
                return state.reception.bodyLength
            }
            if !endIfTooLarge() { report(.response(ResponseHead(response), expectedBytes: expected)) }
        case .data(let data):
            state.withLock { $0.reception.receive(data) }
            if !endIfTooLarge() { report(.received(data)) }
        case .redirected(let url):
            state.withLock { $0.redirects.append(url) }
            report(.redirected(to: url))
        case .servedFromSessionCache: state.withLock { $0.isFromCache = true }
        case .finished(let error): complete(error)
        }
    }

    private func endIfTooLarge() -> Bool {
        guard state.withLock({ $0.reception.isTooLarge }) else { return false }
        let (receive, transfer) = takeReceiver()
        transfer?.cancel()
        let head = state.withLock { $0.reception.response }.map { ResponseHead($0) }
        let context = SynchronizerError.Context(url: request.url, trace: LoadTrace(), head: head, body: nil)
        receive?(.finished(.failure(.tooLarge(limit: options.maximumBodySize, context))))
        return true
    }

    private func complete(_ error: (any Error)?) {
        let (reception, sent, isFromCache, redirects) = state.withLock {
            ($0.reception, $0.sent, $0.isFromCache, $0.redirects)
        }
        let now = time.now
        var trace = LoadTrace()
        trace.redirects = redirects
        if isFromCache {
            trace.bytesSpared = reception.body.count
        } else {
            trace.bytesReceived = reception.body.count
        }
        let url = reception.response?.url ?? request.url
        let isWhole = error == nil && !reception.isCutShort(method: request.httpMethod ?? "GET")
        guard isWhole, let response = reception.response else {
            let error = error ?? URLError(.networkConnectionLost)
            return finish(.failure(.transport(error, .init(url: url, trace: trace))))
        }
        trace.source = isFromCache ? .cache : .network
        trace.reason = isFromCache ? "URLSession answered out of its cache" : "URLSession answered"
        trace.status = reception.status
        trace.timeToFirstByte = sent.map { reception.responseTime.timeIntervalSince($0) }
        trace.transfer = now.timeIntervalSince(reception.responseTime)
        noteInvalidation(reception)
        finish(result(reception, response, trace, requestTime: sent ?? now))
    }

    /// The session drops what it has stored; what was made of it is for others to drop.
    private func noteInvalidation(_ reception: Reception) {
        guard let url = request.url else { return }
        let keys = Invalidation.keys(
            after: CacheRequest(request, url: url, impliedFields: [:]), status: reception.status, reception.fields)
        if !keys.isEmpty { report(.invalidated(keys)) }
    }

    private func result(
        _ reception: Reception, _ response: URLResponse, _ trace: LoadTrace, requestTime: Date
    ) -> Result<Fetched, SynchronizerError> {
        let head = ResponseHead(response)
        let context = SynchronizerError.Context(url: response.url, trace: trace, head: head, body: reception.body)
        if let response = response as? HTTPURLResponse, !(200..<300).contains(reception.status) {
            return .failure(.status(response, context))
        }
        guard !reception.body.isEmpty else { return .failure(.emptyBody(context)) }
        let stored = StoredResponse(
            url: response.url?.absoluteString ?? "", method: "GET", selectingFields: HTTPFields(),
            status: reception.status, fields: reception.fields, requestTime: requestTime,
            responseTime: reception.responseTime)
        let freshUntil = CacheRules().expiration(of: stored, at: time.now)
        var fetched = Fetched(body: reception.body, response: head, freshUntil: freshUntil, trace: trace)
        if let url = request.url {
            fetched.isForThisLoadOnly = CacheRequest(
                request, url: url, impliedFields: transport.impliedFields(for: request)
            ).isBoundToSession(by: head)
        }
        return .success(fetched)
    }

    private func report(_ event: FetchEvent) {
        state.withLock { $0.receive }?(event)
    }

    private func finish(_ result: Result<Fetched, SynchronizerError>) {
        takeReceiver().receive?(.finished(result))
    }

    private func takeReceiver() -> (receive: (@Sendable (FetchEvent) -> Void)?, transfer: (any Transfer)?) {
        state.withLock { state in
            defer { (state.receive, state.transfer) = (nil, nil) }
            return (state.receive, state.transfer)
        }
    }
}
