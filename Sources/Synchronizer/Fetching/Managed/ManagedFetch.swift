import Foundation
import HTTPCaching

/// A fetch of a ``ManagedFetcher``: goes from hop to hop, and over the network where the verdict says so.
///
/// Its steps follow each other: the look-up, the transfer's events, the delegate's decision. Only `cancel`, `proceed`
/// and `storedMeanwhile` come from elsewhere.
final class ManagedFetch: Fetch {
    let fetcher: ManagedFetcher
    let options: FetchOptions
    private let state: Locked<State>

    /// A hop that waits for its turn.
    private enum Waiting {
        /// The first one, for which nothing is stored: it is made anew when its turn comes, because many may wait.
        case nothingStored(URLRequest)
        case hop(Boxed<Hop>)
    }

    /// The exchange under way, touched under the lock only.
    private final class Running {
        var exchange: Exchange

        init(_ exchange: Exchange) { self.exchange = exchange }
    }

    private struct State {
        /// Nil once the fetch is over.
        var receive: (@Sendable (FetchEvent) -> Void)?
        var mayUseNetwork: Bool
        var waiting: Waiting?
        var running: Running?

        /// The exchange, once it is over and its transfer is known: the transfer is needed to ask the delegate.
        mutating func takeEndedExchange() -> Exchange? {
            guard let running, running.exchange.end != nil, running.exchange.transfer != nil else { return nil }
            self.running = nil
            return running.exchange
        }
    }

    init(
        _ fetcher: ManagedFetcher, _ options: FetchOptions, mayUseNetwork: Bool,
        receive: @escaping @Sendable (FetchEvent) -> Void
    ) {
        self.fetcher = fetcher
        self.options = options
        state = Locked(State(receive: receive, mayUseNetwork: mayUseNetwork))
    }

    // MARK: - What Loading calls

    func proceed() {
        let waiting = state.withLock { state -> Waiting? in
            guard let waiting = state.waiting, !state.mayUseNetwork else { return nil }
            state.mayUseNetwork = true
            return waiting
        }
        switch waiting {
        case .nothingStored(let request): visit(request, LoadTrace(), among: [])
        case .hop(let hop): goOn(with: hop.value)
        case nil: break
        }
    }

    /// Goes on with a hop that has waited. If the session has other cookies by now, what was selected may be for
    /// somebody else, and the answer would be kept for whom it is not: then the request is judged anew.
    func goOn(with hop: Hop) {
        if fetcher.sendsSameFields(with: hop) { act(on: hop) } else { visit(hop.request, hop.trace) }
    }

    func cancel() {
        let transfer = state.withLock { state in
            defer { state = State(receive: nil, mayUseNetwork: false) }
            return state.running?.exchange.transfer
        }
        transfer?.cancel()
    }

    /// Not what must not be stale (RFC 9111 §4.2.4): that is for the server to confirm first.
    func storedMeanwhile() -> Fetched? {
        let hop = state.withLock { state -> Hop? in
            if let running = state.running { return running.exchange.hop }
            if case .hop(let hop)? = state.waiting { return hop.value }
            return nil
        }
        guard let hop, let selection = hop.fallback, selection.answer == .stored else { return nil }
        let response = hop.entries[selection.index].response
        guard (200..<300).contains(response.status),
            let shown = fetcher.rules.selectionMeanwhile(selection, of: response),
            let body = body(hop, shown), !body.isEmpty
        else { return nil }
        let head = shown.head(of: response)
        var trace = hop.trace
        trace.describe(shown, source: shown.freshness.isFresh ? .cache : .stale)
        trace.bytesSpared = body.count
        return Fetched(
            body: body, response: ResponseHead(url: hop.url, status: head.status, fields: head.fields),
            freshUntil: .distantPast, trace: trace)
    }

    // MARK: - From hop to hop

    /// Looks up what is stored, unless `entries` are given, and does what is to be done.
    func visit(_ request: URLRequest, _ trace: LoadTrace, among entries: [StoredEntry]? = nil) {
        guard let url = request.url else {
            return finish(.failure(.invalidRequest(.init(url: nil, trace: trace))))
        }
        switch url.isPlainHTTP ? "http" : url.scheme?.lowercased() {
        case "http", "https":
            guard let hop = fetcher.hop(for: request, trace, options, among: entries) else {
                return finish(.failure(.invalidRequest(.init(url: url, trace: trace))))
            }
            act(on: hop)
        case "file", "data":
            let verdict = Verdict.forward(HTTPFields(), fallback: nil, .notHTTP)
            let cacheRequest = CacheRequest(
                url: url.absoluteString, impliedFields: HTTPFields(fetcher.transport.impliedFields(for: request)))
            act(
                on: Hop(
                    request: request, url: url, cacheRequest: cacheRequest, entries: [], verdict: verdict, trace: trace)
            )
        default: finish(.failure(.invalidRequest(.init(url: url, trace: trace))))
        }
    }

    func act(on hop: consuming Hop) {
        switch hop.verdict {
        case .reuse(let selection): answer(hop, selection)
        case .reuseWhileRevalidating where options.awaitsRefresh: useNetwork(hop)
        case .reuseWhileRevalidating(let selection, let fields):
            guard answer(copy hop, selection) else { return }
            fetcher.refresh(selection, of: hop, fields, options)
        case .validate, .complete, .forward: useNetwork(hop)
        case .refuse(let reason):
            var trace = hop.trace
            trace.explain(reason)
            finish(.failure(.notCached(.init(url: hop.url, trace: trace))))
        }
    }

    private func useNetwork(_ found: Hop) {
        let hop = found.withoutBodies()
        let isUnknown = hop.isFirstAndUnknown
        let mayGo = state.withLock { state in
            if !state.mayUseNetwork {
                state.waiting = isUnknown ? .nothingStored(hop.request) : .hop(Boxed(hop))
            }
            return state.mayUseNetwork
        }
        if mayGo { send(hop) } else { report(.needsNetwork(nothingStored: isUnknown)) }
    }

    // MARK: - On the network

    func send(_ hop: Hop) {
        if case .reuseWhileRevalidating(let selection, let fields) = hop.verdict {
            return fetcher.refresh(selection, of: hop, fields, options) { [self] in finish($0) }
        }
        var hop = hop
        hop.trace.validators = hop.validators
        let exchange = Exchange(
            hop: hop, requestTime: fetcher.time.now, mark: fetcher.invalidations.now,
            reception: Reception(maximumBodySize: options.maximumBodySize))
        let isOpen = state.withLock { state in
            guard state.receive != nil else { return false }
            state.waiting = nil
            state.running = Running(exchange)
            return true
        }
        guard isOpen else { return }
        let transfer = fetcher.transport.send(hop.outboundRequest) { [self] in receive($0) }
        let (isNeeded, ended) = state.withLock { state -> (Bool, Exchange?) in
            guard state.receive != nil else { return (false, nil) }
            state.running?.exchange.transfer = transfer
            return (true, state.takeEndedExchange())
        }
        // What has turned out too large before its transfer was known goes on until now.
        if !isNeeded || ended?.reception.isTooLarge == true { transfer.cancel() }
        if let ended { complete(ended) }
    }

    private func receive(_ event: TransferEvent) {
        switch event {
        case .response(let head) where head.isInterim: break
        case .response(let head):
            let now = fetcher.time.now
            let exchange = state.withLock { state in
                state.running?.exchange.reception.receive(head, at: now)
                return state.running?.exchange
            }
            if let event = exchange?.reportOfHead { report(event) }
            endIfTooLarge()
        case .data(let data):
            let isReported = state.withLock { state in
                state.running?.exchange.reception.receive(data)
                return state.running?.exchange.isReportedAsItArrives ?? false
            }
            if isReported { report(.received(data)) } else { endIfTooLarge() }
        case .sent(let count, let expected): report(.sent(count, of: expected))
        case .authorized(let credential):
            state.withLock { $0.running?.exchange.authorize(credential) }
            report(.authorized)
        case .measured(let network): state.withLock { $0.running?.exchange.network = network }
        case .finished(let error):
            end(error.map { .failure($0) } ?? .success(()))
        }
    }

    /// What is too large is not read any further.
    private func endIfTooLarge() {
        guard state.withLock({ $0.running?.exchange.reception.isTooLarge ?? false }) else { return }
        state.withLock { $0.running?.exchange.transfer }?.cancel()
        end(.success(()))
    }

    private func end(_ end: Result<Void, any Error>) {
        let ended = state.withLock { state -> Exchange? in
            guard let running = state.running, running.exchange.end == nil else { return nil }
            running.exchange.note(end)
            return state.takeEndedExchange()
        }
        if let ended { complete(ended) }
    }

    // MARK: - What Loading hears

    /// Whether nobody has cancelled.
    var isOpen: Bool { state.withLock { $0.receive != nil } }

    func report(_ event: FetchEvent) {
        state.withLock { $0.receive }?(event)
    }

    func finish(_ result: Result<Fetched, SynchronizerError>) {
        let receive = state.withLock { state in
            defer { state = State(receive: nil, mayUseNetwork: false) }
            return state.receive
        }
        receive?(.finished(result))
    }
}

extension Hop {
    /// Whether it can be made anew out of its request alone.
    fileprivate var isFirstAndUnknown: Bool {
        guard case .forward(_, nil, let reason) = verdict, reason != .notHTTP else { return false }
        return entries.isEmpty && trace == LoadTrace()
    }
}

extension Exchange {
    /// Whether the caller hears of the body while it arrives: only of one that will be the result.
    fileprivate var isReportedAsItArrives: Bool {
        guard (200..<300).contains(reception.status), !reception.isTooLarge else { return false }
        if case .complete = hop.verdict, reception.status == 206 { return resumption != nil }
        return true
    }

    /// What the caller hears with the head.
    fileprivate var reportOfHead: FetchEvent? {
        guard isReportedAsItArrives, let head = reception.head else { return nil }
        if let resumption { return .resumed(after: resumption.start, expectedBytes: resumption.length) }
        return .response(head, expectedBytes: reception.bodyLength)
    }

    /// Where the rest of a body begins, and the length of the whole; nil if this is not the rest that was asked for.
    private var resumption: (start: Int, length: Int?)? {
        guard case .complete(let selection, _, let start) = hop.verdict, reception.status == 206,
            !hop.cacheRequest.fields.contains("Range"), let part = Storing.part(of: reception.fields),
            part.range.lowerBound == start,
            hop.entries[selection.index].response.hasSameStrongValidator(as: reception.fields)
        else { return nil }
        return (start, part.completeLength)
    }
}
