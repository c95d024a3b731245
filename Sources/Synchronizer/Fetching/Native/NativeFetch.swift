import Foundation
import HTTPCaching

/// A fetch of a ``NativeFetcher``: one task of the session, mostly.
///
/// What the session is certain to have is asked of it without the network, and so without a turn. If it does not have it
/// after all, or answers out of its cache with what is for others, there is a second task.
final class NativeFetch: Fetch {
    let fetcher: NativeFetcher
    let request: URLRequest
    let options: FetchOptions
    private let state: Locked<State>

    private struct State {
        /// Nil once the fetch is over.
        var receive: (@Sendable (FetchEvent) -> Void)?
        /// What is sent when its turn comes.
        var waiting: URLRequest?
        var task: NativeTask?
        var tasks = 0
    }

    init(
        _ fetcher: NativeFetcher, _ request: URLRequest, _ options: FetchOptions,
        receive: @escaping @Sendable (FetchEvent) -> Void
    ) {
        self.fetcher = fetcher
        self.request = request
        self.options = options
        state = Locked(State(receive: receive))
    }

    // MARK: - What Loading calls

    func start() {
        switch request.url?.scheme?.lowercased() {
        case "http", "https": lookUp()
        case "file", "data": wait(request)
        default: finish(.failure(.invalidRequest(.init(url: request.url, trace: LoadTrace()))))
        }
    }

    func proceed() {
        let request = state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
        if let request { send(request) }
    }

    func cancel() {
        takeReceiver().transfer?.cancel()
    }

    /// Not another's answer, and not what must not be stale (RFC 9111 §4.2.4).
    func storedMeanwhile() -> Fetched? {
        guard let url = request.url else { return nil }
        let found = lookedUp(url)
        guard let stored = found.stored, let selection = found.verdict.stored, selection.answer == .stored,
            (200..<300).contains(stored.response.status), !stored.body.isEmpty,
            let shown = fetcher.rules.selectionMeanwhile(selection, of: stored.response)
        else { return nil }
        var trace = LoadTrace()
        trace.describe(shown, source: shown.freshness.isFresh ? .cache : .stale)
        trace.bytesSpared = stored.body.count
        let head = ResponseHead(url: url, status: stored.response.status, fields: stored.response.serverFields)
        return Fetched(body: stored.body, response: head, freshUntil: .distantPast, trace: trace)
    }

    // MARK: - From look-up to task

    private func lookUp() {
        guard let url = request.url else { return }
        guard fetcher.cacheRequest(request, url).isWellFormed else {
            return finish(.failure(.invalidRequest(.init(url: url, trace: LoadTrace()))))
        }
        let found = lookedUp(url)
        if case .refuse(let reason) = found.verdict {
            var trace = LoadTrace()
            trace.explain(reason)
            return finish(.failure(.notCached(.init(url: url, trace: trace))))
        }
        if found.isCertainHit { return send(request.with(.returnCacheDataDontLoad)) }
        wait(found.isToBeIgnored ? request.with(.reloadIgnoringLocalCacheData) : request)
    }

    private func lookedUp(_ url: URL) -> NativeLookUp {
        fetcher.lookUp(fetcher.cacheRequest(request, url), request, limit: options.maximumBodySize)
    }

    private func wait(_ request: URLRequest) {
        state.withLock { $0.waiting = request }
        report(.needsNetwork(nothingStored: false))  // a blank fetch would find out the same once more
    }

    private func send(_ request: URLRequest) {
        let cacheRequest = fetcher.cacheRequest(of: request)
        let number = state.withLock { state -> Int? in
            guard state.receive != nil else { return nil }
            state.tasks += 1
            state.task = NativeTask(
                number: state.tasks, request: request, cacheRequest: cacheRequest, sent: fetcher.time.now,
                mark: fetcher.invalidations.now, limit: options.maximumBodySize)
            return state.tasks
        }
        guard let number else { return }
        let transfer = fetcher.transport.perform(request) { [self] in receive($0, number) }
        let isNeeded = state.withLock { state in
            guard state.receive != nil, state.task?.number == number else { return false }
            state.task?.transfer = transfer
            return true
        }
        if !isNeeded { transfer.cancel() }
    }

    /// The session has nothing to give, or another's: it is asked again, on the network. `policy` is that of the request.
    private func sendAgain(_ policy: URLRequest.CachePolicy) {
        let task = state.withLock { state in
            defer { state.task = nil }
            return state.task
        }
        task?.transfer?.cancel()
        guard let task else { return }
        guard request.cachePolicy != .returnCacheDataDontLoad else {
            return finish(.failure(.notCached(.init(url: request.url, trace: LoadTrace()))))
        }
        let again = request.with(policy)
        if task.isCacheOnly { wait(again) } else { send(again) }
    }

    // MARK: - What the task reports

    private func receive(_ event: NativeEvent, _ number: Int) {
        guard let task = state.withLock({ $0.task }), task.number == number else { return }
        switch event {
        case .transfer(let event): receive(event, task)
        case .redirected(let next):
            let cacheRequest = fetcher.cacheRequest(of: next)
            update { $0.follow(next, cacheRequest) }
            if let url = next.url { report(.redirected(to: url)) }
        case .storing(let decision):
            decision.decided = marked(decision.proposed, task)
            if let stored = decision.decided { report(.stored(stored.data.count)) }
        case .servedFromSessionCache: update { $0.isFromCache = true }
        }
    }

    private func receive(_ event: TransferEvent, _ task: NativeTask) {
        switch event {
        case .response(let head) where head.isInterim: break
        case .response(let head): receive(head, task)
        case .data(let data):
            update { $0.reception.receive(data) }
            if !endIfTooLarge(), !task.isCacheOnly { report(.received(data)) }
        case .sent(let count, let expected): report(.sent(count, of: expected))
        case .authorized:
            update { $0.isAuthorized = true }
            report(.authorized)
        case .measured(let network): update { $0.network = network }
        case .finished(let error):
            if task.isCacheOnly, task.isOfHTTP, error != nil { return sendAgain(request.cachePolicy) }
            complete(task, error)
        }
    }

    private func receive(_ received: ResponseHead, _ task: NativeTask) {
        var head = received
        if head.isHTTP, let url = head.url, task.request.cachePolicy.mayFindStored {
            let (mark, fields) = StoredMark.taken(outOf: head.fields)
            if let mark {
                guard let request = task.cacheRequest, mark.isFor(request, fields) else {
                    return sendAgain(.reloadIgnoringLocalCacheData)
                }
                update { $0.storedMark = mark }
                head = ResponseHead(url: url, status: head.status, fields: mark.serverFields(of: fields))
            }
        }
        let now = fetcher.time.now
        update { $0.reception.receive(head, at: now) }
        guard !endIfTooLarge(), !task.isCacheOnly else { return }
        report(.response(head, expectedBytes: state.withLock { $0.task?.reception.bodyLength }))
    }

    private func update(_ change: (inout NativeTask) -> Void) {
        state.withLock { state in
            guard var task = state.task.take() else { return }
            change(&task)
            state.task = task
        }
    }

    private func endIfTooLarge() -> Bool {
        guard state.withLock({ $0.task?.reception.isTooLarge ?? false }) else { return false }
        let head = state.withLock { $0.task?.reception.head }
        let (receive, transfer) = takeReceiver()
        transfer?.cancel()
        let context = SynchronizerError.Context(url: request.url, trace: LoadTrace(), head: head, body: nil)
        receive?(.finished(.failure(.tooLarge(limit: options.maximumBodySize, context))))
        return true
    }

    // MARK: - What Loading hears

    func report(_ event: FetchEvent) {
        state.withLock { $0.receive }?(event)
    }

    func finish(_ result: Result<Fetched, SynchronizerError>) {
        takeReceiver().receive?(.finished(result))
    }

    private func takeReceiver() -> (receive: (@Sendable (FetchEvent) -> Void)?, transfer: (any Cancellable)?) {
        state.withLock { state in
            defer { state = State() }
            return (state.receive, state.task?.transfer)
        }
    }
}

/// A task of the session, for a fetch.
struct NativeTask {
    let number: Int
    let request: URLRequest
    let sent: Date
    /// When it was sent, as the log of invalidations counts.
    let mark: InvalidationLog.Mark
    /// The request of the hop under way: the session follows redirects by itself.
    private(set) var hop: URLRequest
    /// The same as it was sent, with the cookies of that moment: the answer may bring others. Nil without a URL.
    private(set) var cacheRequest: CacheRequest?
    private(set) var redirects: [URL] = []
    /// Whether the session did not use the network: it says so, or was not to.
    var isFromCache: Bool
    /// What was written into the response when it was stored; nil if it comes from the server.
    var storedMark: StoredMark?
    var reception: Reception
    /// How the network did; nil where the session does not tell.
    var network: NetworkTrace?
    /// Whether the session sent a credential that the request does not show.
    var isAuthorized = false
    /// Known once `send` has returned; a task can be over before.
    var transfer: (any Cancellable)?

    init(
        number: Int, request: URLRequest, cacheRequest: CacheRequest?, sent: Date, mark: InvalidationLog.Mark,
        limit: Int
    ) {
        self.number = number
        self.request = request
        self.sent = sent
        self.mark = mark
        hop = request
        self.cacheRequest = cacheRequest
        reception = Reception(maximumBodySize: limit)
        isFromCache = request.cachePolicy == .returnCacheDataDontLoad
    }

    var isCacheOnly: Bool { request.cachePolicy == .returnCacheDataDontLoad }

    var isOfHTTP: Bool { request.url?.scheme?.lowercased().hasPrefix("http") ?? false }

    mutating func follow(_ next: URLRequest, _ cacheRequest: CacheRequest?) {
        hop = next
        self.cacheRequest = cacheRequest
        if let url = next.url { redirects.append(url) }
    }
}

extension Verdict {
    /// The stored response that answers, or might if the server confirmed it.
    fileprivate var stored: Selection? {
        switch self {
        case .validate(let selection, _), .reuseWhileRevalidating(let selection, _), .reuse(let selection):
            return selection
        case .forward(_, let fallback, _): return fallback
        case .complete, .refuse: return nil
        }
    }
}

extension URLRequest {
    fileprivate func with(_ policy: CachePolicy) -> URLRequest {
        var request = self
        request.cachePolicy = policy
        return request
    }
}

extension URLRequest.CachePolicy {
    /// Whether the session looks into its cache.
    fileprivate var mayFindStored: Bool { CachePolicy(self).looksUp }
}
