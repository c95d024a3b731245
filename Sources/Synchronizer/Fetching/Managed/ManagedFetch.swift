import Foundation
import HTTPCaching

/// A fetch that follows RFC 9111. ``run(_:)`` shows all stages: look up → decide → lease → send → freshen or store → answer. Each
/// stage is a method in a file of its own; the rules are those of HTTPCaching.
final class ManagedFetch: Fetch {
    /// What all fetches of a fetcher share.
    struct Context: Sendable {
        let transport: any Transport
        let cache: ManagedCache
        let network: NetworkSwitch
        let refreshes = BackgroundRefreshes()
        var leasing: Leasing? { cache.leasing }
    }

    /// Where a run begins.
    enum Start {
        /// With the request of the load, whose cookies are in the options.
        case first(URLRequest)
        /// With another request, such as that of a redirect.
        case request(URLRequest, LoadTrace, RedirectLifetime)
        /// With a request that must not be sent: only the cache may answer it.
        case offline(URLRequest, LoadTrace, RedirectLifetime)
        /// With a request for which nothing is stored.
        case miss(URLRequest)
        /// With a step that was decided before.
        case step(FetchStep)
    }

    let context: Context
    let options: FetchOptions
    /// Nil once the fetch has ended or was cancelled.
    let state: Locked<State?>

    var cache: ManagedCache { context.cache }

    /// - Parameter hasSlot: whether the fetch may use the network at once.
    init(
        _ context: Context, options: FetchOptions, hasSlot: Bool, leaseStatus: LeaseStatus = .notRequested,
        receive: @escaping @Sendable (FetchEvent) -> Void
    ) {
        self.context = context
        self.options = options
        state = Locked(State(receive: receive, phase: hasSlot ? .hasSlot : .lookingUp, leaseStatus: leaseStatus))
    }

    /// Runs the fetch from its start, after a redirect, when it gets its network slot, and when it must send again.
    func run(_ start: Start) {
        // Look up the entries stored for the URL, and decide with the rules what to do about the request.
        guard let step = step(from: start) else { return finishInvalid(start) }

        // Decide: a hit is the answer, a refusal is an error, and everything else needs the network.
        switch step.decision {
        case .reuse(let selection),
            .reuseWhileRevalidating(let selection, _) where !options.awaitsRefresh:
            guard var answer = answer(from: selection, of: step) else {
                return run(.step(step.without(selection, rules: cache.rules, at: cache.time.now)))
            }
            // First: a load that the answer causes waits for this validation.
            answer.isBeingRevalidated = queueRefresh(of: step)
            deliver(answer)
            if answer.isBeingRevalidated { context.refreshes.startNext() }
            return
        case .refuse(let reason):
            var trace = step.trace
            trace.explain(reason, previously: cache.reasons.reason(for: step.cacheRequest))
            return finish(.failure(.notCached(.init(url: step.url, trace: trace))))
        case .validate, .complete, .forward, .reuseWhileRevalidating: break
        }

        // Get a network slot; if the load has none yet, `proceed` runs the step again when it has one.
        guard obtainSlot(for: step) else { return }
        if wentOffline(since: step) { return run(step.again) }

        // Take a lease, so that other processes wait for the response; or give the slot up and wait for theirs.
        guard obtainLease(for: step) else { return }

        // Send the request.
        send(step) { [self] finished in
            var exchange = finished
            if finished.isInterrupted || (finished.hasFailed && wentOffline(since: finished.step)) {
                keepInterrupted(finished)
                return run(afterInterruption(of: step))
            }
            switch conclusion(of: &exchange) {
            case .answer(let answer, let change):
                // Freshen the entry that a 304 confirms, or store the new response, if delegate and rules allow it.
                make(change, after: exchange) { [self] kept, storing in
                    // Answer with the response; a redirect runs the fetch again with the next request.
                    var answer = answer.stored(as: kept, rules: cache.rules, at: cache.time.now)
                    note(storing, in: &answer.step)
                    deliver(answer)
                }
            case .sendAgain(let step): run(.step(step))
            case .failure(let error): finish(.failure(error))
            }
        }
    }

    // MARK: - Fetch

    func proceed() {
        let step = state.withLock { state -> Boxed<FetchStep>? in
            guard case .waitingForSlot(let step)? = state?.phase else { return nil }
            state?.phase = .hasSlot
            return step
        }
        if let step { resume(step.value) }
    }

    /// Continues with a step that has waited. If the session has other cookies by now, the step is looked up again: its
    /// selection may belong to another user, and its response would be stored for the wrong one.
    func resume(_ step: FetchStep) {
        if hasCurrentCookies(step) { run(.step(step)) } else { lookUpAgain(step) }
    }

    /// Whether the session would send the step's request with the cookies that it was looked up with.
    func hasCurrentCookies(_ step: FetchStep) -> Bool {
        let headers = HTTPFields(context.transport.sessionHeaders(for: step.request))
        return Set(headers.lines) == Set(step.cacheRequest.sessionHeaders.lines)
    }

    func cancel() {
        let (last, transfer, sink) = state.withLock { state in
            let running = state?.running
            return (state.take(), running?.exchange.transfer, running?.sink)
        }
        transfer?.cancel()
        if let sink { cache.abandon(sink) }
        last?.endLease(context.leasing, isCancelled: true)
    }

    func provisional() -> Fetched? {
        let step = state.withLock { state -> FetchStep? in
            switch state?.phase {
            case .sending(let running)?: return running.exchange.step
            case .waitingForSlot(let step)?, .waitingForLease(let step, _)?: return step.value
            case .lookingUp?, .hasSlot?, nil: return nil
            }
        }
        guard options.file == nil, let step, var selection = step.fallback else { return nil }
        let response = step.entries[selection.index].response
        selection.freshness = cache.rules.freshness(of: response, at: cache.time.now)
        var fetched = Fetched.provisional(selection, of: response, url: step.url, trace: step.trace) { shown in
            body(for: shown, of: step)
        }
        fetched?.offer = offer(for: selection, of: step)
        return fetched
    }
}

extension ManagedFetch {
    /// The exchange in flight, accessed under the lock only.
    final class Running {
        /// Distinguishes the events of its transfer from those of an earlier one, which may still arrive after its cancellation.
        let number: Int
        var exchange: Exchange
        let completion: @Sendable (Exchange) -> Void
        /// Where the body goes if it goes to a file.
        var sink: BodySink?

        init(number: Int, exchange: Exchange, completion: @escaping @Sendable (Exchange) -> Void) {
            self.number = number
            self.exchange = exchange
            self.completion = completion
        }
    }

    enum Phase {
        case lookingUp
        case waitingForSlot(Boxed<FetchStep>)
        case waitingForLease(Boxed<FetchStep>, cancel: @Sendable () -> Void)
        case hasSlot
        case sending(Running)
    }

    /// The state of a fetch that has neither ended nor been cancelled.
    struct State {
        let receive: @Sendable (FetchEvent) -> Void
        var phase: Phase
        var leaseStatus: LeaseStatus
        /// The exchanges that have begun.
        private var exchanges = 0

        init(receive: @escaping @Sendable (FetchEvent) -> Void, phase: Phase, leaseStatus: LeaseStatus) {
            (self.receive, self.phase, self.leaseStatus) = (receive, phase, leaseStatus)
        }

        var running: Running? { if case .sending(let running) = phase { running } else { nil } }

        /// The exchange with that number, while it is in flight.
        func running(_ number: Int) -> Running? { running.flatMap { $0.number == number ? $0 : nil } }

        /// Begins an exchange; returns its number.
        mutating func begin(_ exchange: Exchange, completion: @escaping @Sendable (Exchange) -> Void) -> Int {
            exchanges += 1
            phase = .sending(Running(number: exchanges, exchange: exchange, completion: completion))
            return exchanges
        }

        /// Takes the exchange once it has ended and its transfer is known: the transfer asks the delegate what to store.
        mutating func takeEnded() -> Running? {
            guard let running, running.exchange.end != nil, running.exchange.transfer != nil else { return nil }
            phase = .hasSlot
            return running
        }
    }

    /// Whether the network was switched off since the step was decided.
    func wentOffline(since step: FetchStep) -> Bool {
        step.cacheRequest.policy != .offline && context.network.isOffline
    }

    /// Where an interrupted request begins again, as a new load would: the switch may be on again by now. Then the request is sent
    /// again, unless it must not be sent twice.
    private func afterInterruption(of step: FetchStep) -> Start {
        RetryPolicy.maySendAgain(step.request, isSafe: options.body != nil)
            ? step.again : .offline(step.request, step.trace, step.redirectLifetime)
    }

    /// Whether the fetch has neither ended nor been cancelled.
    var isOpen: Bool { state.withLock { $0 != nil } }

    func report(_ event: FetchEvent) {
        let current = state.withLock { $0 }  // if it returned `receive`, Swift would wrap that in another closure
        current?.receive(event)
    }

    func finish(_ result: Result<Fetched, SynchronizerError>) {
        let last = state.withLock { $0.take() }
        last?.endLease(context.leasing)
        last?.receive(.finished(result))
    }

    private func finishInvalid(_ start: Start) {
        switch start {
        case .request(let request, let trace, _), .offline(let request, let trace, _):
            finish(.failure(.invalidRequest(.init(url: request.url, trace: trace))))
        case .first(let request), .miss(let request):
            finish(.failure(.invalidRequest(.init(url: request.url, trace: LoadTrace()))))
        case .step(let step): finish(.failure(.invalidRequest(step.context)))
        }
    }
}
