import Foundation
import HTTPCaching

/// A fetch that leaves caching to the session: usually one task.
///
/// A certain hit is requested from the session without access to the network, and so without a network slot. If the session
/// misses after all, or its cache answers with a response for other requests, there is a second task.
final class NativeFetch: Fetch {
    /// What all fetches of a fetcher share.
    struct Context: Sendable {
        let transport: any NativeTransport
        let cache: NativeCache
        /// The lifetime that the session's delegate injects.
        let injection: LifetimeInjection
        let network: NetworkSwitch
    }

    let context: Context
    let request: URLRequest
    let options: FetchOptions
    /// Nil once the fetch has ended or was cancelled.
    let state: Locked<State?>

    init(
        _ request: URLRequest, context: Context, options: FetchOptions,
        receive: @escaping @Sendable (FetchEvent) -> Void
    ) {
        self.context = context
        self.request = request
        self.options = options
        state = Locked(State(receive: receive))
    }

    var cache: NativeCache { context.cache }

    // MARK: - Fetch

    func start() {
        switch request.url?.scheme?.lowercased() {
        case "http", "https": lookUp()
        case "file", "data": wait(request)
        default: finish(.failure(.invalidRequest(.init(url: request.url, trace: LoadTrace()))))
        }
    }

    func proceed() {
        if let request = state.withLock({ $0?.takeWaiting() }) { send(request) }
    }

    func cancel() {
        end()?.task?.transfer?.cancel()
    }

    func provisional() -> Fetched? {
        guard options.file == nil, let url = request.url, let (selection, entry) = lookUp(url).usable else {
            return nil
        }
        return Fetched.provisional(
            selection, of: entry.response, url: url, trace: LoadTrace(), addsAge: false
        ) { _ in entry.body }
    }

    // MARK: - From lookup to task

    private func lookUp() {
        guard let url = request.url else { return }
        guard cacheRequest(request, url: url).isWellFormed else {
            return finish(.failure(.invalidRequest(.init(url: url, trace: LoadTrace()))))
        }
        switch lookUp(url).plan {
        case .refuse(let reason):
            var trace = LoadTrace()
            trace.explain(reason, previously: previousReason(for: cacheRequest(of: request)))
            finish(.failure(.notCached(.init(url: url, trace: trace))))
        case .cacheOnly: send(request.with(.returnCacheDataDontLoad))
        case .send where context.network.isOffline, .ignoreCache where context.network.isOffline: finishMissed()
        case .send: wait(request)
        case .ignoreCache: wait(request.with(.reloadIgnoringLocalCacheData))
        }
    }

    private func lookUp(_ url: URL) -> NativeLookup {
        cache.lookUp(cacheRequest(request, url: url), for: request, limit: options.maximumBodySize)
    }

    func cacheRequest(_ request: URLRequest, url: URL) -> CacheRequest {
        CacheRequest(
            request, url: url, sessionHeaders: context.transport.sessionHeaders(for: request),
            isOffline: context.network.isOffline, body: options.body)
    }

    /// Whether a request must not be sent, because the network was switched off.
    private func isForbidden(_ request: URLRequest) -> Bool {
        context.network.isOffline && request.cachePolicy != .returnCacheDataDontLoad
            && request.url?.scheme?.lowercased().hasPrefix("http") ?? false
    }

    private func finishMissed() {
        var trace = LoadTrace()
        trace.addReason(previously: previousReason(for: cacheRequest(of: request)))
        finish(.failure(.notCached(.init(url: request.url, trace: trace))))
    }

    /// Why the last response to the request was not stored; nil if it was stored, or is not known.
    func previousReason(for request: CacheRequest?) -> ResponseStoring.Reason? {
        request.flatMap(cache.reasons.reason)
    }

    func cacheRequest(of request: URLRequest) -> CacheRequest? {
        request.url.map { cacheRequest(request, url: $0) }
    }

    /// Sends the request once the load has a network slot, which it gets only once.
    private func wait(_ request: URLRequest) {
        guard let hasSlot = state.withLock({ $0?.obtainSlot(for: request) }) else { return }
        if hasSlot { return send(request) }
        report(.needsNetwork(nothingStored: false))  // a new fetch would have to look up again
    }

    /// The network was switched off while the request was in flight. It begins again, as a new load would, unless it must not be
    /// sent twice: the switch may be on again by now.
    private func beginAgain(insteadOf number: Int) {
        // Both the call that sent the request and its cancelled transfer may notice. The first of them takes the task.
        guard dropTask(number) != nil else { return }
        if RetryPolicy.maySendAgain(request, isSafe: options.body != nil) { start() } else { finishMissed() }
    }

    private func send(_ request: URLRequest) {
        if isForbidden(request) { return lookUp() }
        let cacheRequest = cacheRequest(of: request)
        let number = state.withLock { state in
            state?.begin { number in
                NativeTask(
                    number: number, request: request, cacheRequest: cacheRequest, sent: cache.time.now,
                    mark: cache.invalidations.now, limit: options.maximumBodySize, wantsFile: options.file != nil)
            }
        }
        guard let number else { return }
        let transfer = context.transport.perform(request, cacheTime: options.cacheTime) { [self] in
            receive($0, ofTask: number)
        }
        let isNeeded = state.withLock { state in
            guard state?.task?.number == number else { return false }
            state?.update { $0.transfer = transfer }
            return true
        }
        guard isNeeded else { return transfer.cancel() }
        sink?.transferIsKnown()
        // The network may have been switched off before the task began.
        if isForbidden(request) { beginAgain(insteadOf: number) }
    }

    /// Asks the session again, with this policy, because it has missed or has answered with a response for other requests.
    private func sendAgain(_ policy: URLRequest.CachePolicy) {
        guard let task = dropTask() else { return }
        guard request.cachePolicy != .returnCacheDataDontLoad, !context.network.isOffline else { return finishMissed() }
        let again = request.with(policy)
        if task.isCacheOnly { wait(again) } else { send(again) }
    }

    /// Cancels the task that is running, so that its events no longer count; returns it. If `number` is given, only if the task has
    /// that number.
    private func dropTask(_ number: Int? = nil) -> NativeTask? {
        let task = state.withLock { $0?.takeTask(number) }
        task?.transfer?.cancel()
        task?.sink?.abandon {}
        return task
    }

    // MARK: - Events of the task

    private func receive(_ event: NativeEvent, ofTask number: Int) {
        if case .transfer(.data(let data)) = event { return receive(data, ofTask: number) }
        guard let task = state.withLock({ $0?.task }), task.number == number else { return }
        switch event {
        case .transfer(let event): receive(event, of: task)
        case .redirected(let head, let next): follow(head, to: next, of: task)
        case .storing(let decision):
            decision.decided = bound(decision.proposed, of: task)
            let isStored = decision.decided != nil
            update { $0.storing = isStored ? .stored : .notStored(task.isAuthorized ? .personal : .invalidated) }
            if let stored = decision.decided { report(.stored(stored.data.count)) }
        case .servedFromSessionCache: update { $0.isFromCache = true }
        }
    }

    /// Receives a piece of the body. Holds no copy of the task, because then each piece would copy all bytes before it.
    private func receive(_ data: Data, ofTask number: Int) {
        let task = state.withLock { state in
            state?.task.flatMap { $0.number == number ? ($0.sink, isCacheOnly: $0.isCacheOnly) : nil }
        }
        guard let (sink, isCacheOnly) = task else { return }
        sink?.append(data)
        update { $0.received.receive(data) }
        if !endIfTooLarge(), !isCacheOnly { report(.received(data)) }
    }

    private func receive(_ event: TransferEvent, of task: NativeTask) {
        switch event {
        case .response(let head) where head.isInterim: break
        case .response(let head): receive(head, of: task)
        case .data: break  // see `receive(_:ofTask:)`
        case .sent(let count, let expected): report(.sent(count, of: expected))
        case .authorized:
            update { $0.isAuthorized = true }
            report(.authorized)
        case .measured(let network): update { $0.network = network }
        case .finished(let error):
            if task.isCacheOnly, task.isHTTP, error != nil { return sendAgain(request.cachePolicy) }
            if error is NetworkSwitchedOff || (error != nil && isForbidden(task.request)) {
                return beginAgain(insteadOf: task.number)
            }
            completeFile(of: task, with: error)
        }
    }

    private func receive(_ received: ResponseHead, of task: NativeTask) {
        var head = received
        if head.isHTTP, let url = head.url, task.request.cachePolicy.mayFindStored {
            let (header, fields) = CacheBindingHeader.split(head.fields)
            if let header {
                guard let request = task.cacheRequest, header.matches(request, fields: fields) else {
                    return sendAgain(.reloadIgnoringLocalCacheData)
                }
                update { $0.header = header }
                head = ResponseHead(url: url, status: head.status, fields: header.serverFields(of: fields))
            }
        }
        update { [now = cache.time.now] in $0.received.receive(head, at: now) }
        invalidate(by: head, of: task)
        openSink()
        guard !endIfTooLarge(), !task.isCacheOnly else { return }
        report(.response(head, expectedBytes: state.withLock { $0?.task?.received.bodyLength }))
    }

    func update(_ change: (inout NativeTask) -> Void) {
        state.withLock { $0?.update(change) }
    }

    private func endIfTooLarge() -> Bool {
        guard state.withLock({ $0?.task?.received.isTooLarge ?? false }) else { return false }
        update { $0.storing = .notStored(.tooLarge) }
        guard let task = state.withLock({ $0?.task }) else { return true }
        let trace = task.trace(at: cache.time.now)
        noteStoring(by: task, trace: trace)
        let last = end()
        last?.task?.transfer?.cancel()
        let context = SynchronizerError.Context(url: request.url, trace: trace, head: task.received.head, body: nil)
        last?.receive(.finished(.failure(.tooLarge(limit: options.maximumBodySize, context))))
        return true
    }

    func report(_ event: FetchEvent) {
        state.withLock { $0?.receive }?(event)
    }

    func finish(_ result: Result<Fetched, SynchronizerError>) {
        end()?.receive(.finished(result))
    }

    /// Ends the fetch; returns its last state, unless it had ended before.
    private func end() -> State? {
        let last = state.withLock { $0.take() }
        last?.task?.sink?.abandon {}
        return last
    }

    var sink: BodySink? { state.withLock { $0?.task?.sink } }

    var transfer: (any Cancellable)? { state.withLock { $0?.task?.transfer } }
}

extension URLRequest {
    fileprivate func with(_ policy: CachePolicy) -> URLRequest {
        var request = self
        request.cachePolicy = policy
        return request
    }
}

extension URLRequest.CachePolicy {
    /// Whether the session looks the request up in its cache.
    fileprivate var mayFindStored: Bool { CachePolicy(self).looksUp }
}
