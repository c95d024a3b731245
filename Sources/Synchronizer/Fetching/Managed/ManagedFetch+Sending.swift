import Foundation
import HTTPCaching

// The fourth stage: the network.
extension ManagedFetch {
    /// Returns whether the fetch has a network slot. If not, keeps the step until it gets one, and reports that it needs one.
    func obtainSlot(for step: FetchStep) -> Bool {
        let isMiss = step.isFirstMiss
        let hasSlot = state.withLock { state in
            switch state?.phase {
            case .hasSlot?, .sending?: return true
            case .lookingUp?, .waitingForSlot?, .waitingForLease?, nil:
                state?.phase = .waitingForSlot(Boxed(step.withoutBodies))
                return false
            }
        }
        if !hasSlot { report(.needsNetwork(nothingStored: isMiss)) }
        return hasSlot
    }

    /// Sends the step's request, and calls `completion` with the finished exchange.
    func send(_ step: FetchStep, completion: @escaping @Sendable (Exchange) -> Void) {
        if case .reuseWhileRevalidating(let selection, let fields) = step.decision {
            return refreshNow(selection, of: step, fields: fields)
        }
        var step = step.withoutBodies
        step.trace.validators = step.validators
        let exchange = Exchange(
            step: step, requestTime: cache.time.now, mark: cache.invalidations.now,
            received: ReceivedResponse(
                method: step.cacheRequest.method, maximumBodySize: options.maximumBodySize,
                wantsFile: options.file != nil))
        guard let number = state.withLock({ $0?.begin(exchange, completion: completion) }) else { return }
        let transfer = context.transport.send(step.outboundRequest) { [self] in receive($0, in: number) }
        let (isNeeded, sink, ended) = state.withLock { state -> (Bool, BodySink?, Running?) in
            state?.running?.exchange.transfer = transfer
            return (state != nil, state?.running?.sink, state?.takeEnded())
        }
        sink?.transferIsKnown()
        // The body may have turned out too large, or impossible to write, before the transfer was known.
        if !isNeeded || ended?.exchange.isGivenUp == true { transfer.cancel() }
        if let ended { return complete(ended) }
        // The network may have been switched off before the transfer began.
        guard isNeeded, wentOffline(since: step) else { return }
        transfer.cancel()
        end(number, with: .failure(NetworkSwitchedOff()))
    }

    /// - Parameter number: the exchange to which the event belongs.
    private func receive(_ event: TransferEvent, in number: Int) {
        switch event {
        case .response(let head) where head.isInterim: break
        case .response(let head):
            let now = cache.time.now
            let event = state.withLock { state in
                state?.running(number)?.exchange.receive(head, at: now)
                return state?.running(number)?.exchange.headEvent
            }
            invalidate(byHeadOf: number)
            if options.file != nil { openSink(in: number) }
            if let event { report(event) }
            releaseIfUseless(number)
            endIfUseless(number)
        case .data(let data):
            let (isReported, sink) = state.withLock { state in
                let running = state?.running(number)
                running?.exchange.received.receive(data)
                return (running?.exchange.isReportedAsItArrives ?? false, running?.sink)
            }
            sink?.append(data)
            if isReported { report(.received(data)) } else { endIfUseless(number) }
        case .sent(let count, let expected): report(.sent(count, of: expected))
        case .authorized(let credential):
            state.withLock { $0?.running(number)?.exchange.authorize(credential) }
            report(.authorized)
        case .measured(let network): state.withLock { $0?.running(number)?.exchange.network = network }
        case .finished(let error): end(number, with: error.map { .failure($0) } ?? .success(()))
        }
    }

    /// Stops reading a body that is not worth receiving.
    private func endIfUseless(_ number: Int) {
        // Copies only two values of the exchange: copying the whole exchange would retain two dozen references.
        let (isUseless, transfer) = state.withLock { state -> (Bool, (any Transfer)?) in
            guard let running = state?.running(number) else { return (false, nil) }
            return (running.exchange.hasUselessBody, running.exchange.transfer)
        }
        guard isUseless else { return }
        transfer?.cancel()
        end(number, with: .success(()))
    }

    func end(_ number: Int, with end: Result<Void, any Error>) {
        let ended = state.withLock { state -> Running? in
            guard let running = state?.running(number), running.exchange.end == nil else { return nil }
            running.exchange.note(end)
            return state?.takeEnded()
        }
        if let ended { complete(ended) }
    }
}

// MARK: - In the background

extension ManagedFetch {
    /// Queues a validation if the step reuses a response while it is revalidated; returns whether it does.
    func queueRefresh(of step: FetchStep) -> Bool {
        guard case .reuseWhileRevalidating(let selection, let fields) = step.decision else { return false }
        let key = refreshKey(selection, of: step)
        let begin = refresh(selection, of: step, fields: fields, key: key)
        context.refreshes.queue(key, for: step.refreshRequest, since: step.lookupMoment, begin: begin)
        return true
    }

    /// Validates the response for this fetch, which has a network slot, or coalesces with a running one. If the response was
    /// validated while the fetch waited for its slot, or with another load's request, the fetch looks up again: then the cache
    /// answers, or the fetch sends its own request.
    private func refreshNow(_ selection: Selection, of step: FetchStep, fields: HTTPFields) {
        let key = refreshKey(selection, of: step)
        let begin = refresh(selection, of: step, fields: fields, key: key, leaseStatus: .notNeeded)
        let lookUpAgain: @Sendable () -> Void = { [self] in run(step.again) }
        let isCurrent = context.refreshes.start(
            key, for: step.refreshRequest, since: step.lookupMoment,
            listener: { [self] in $0.map(finish) ?? lookUpAgain() }, begin: begin)
        if !isCurrent { lookUpAgain() }
    }

    private func refreshKey(_ selection: Selection, of step: FetchStep) -> BackgroundRefreshes.Key {
        .init(
            entry: step.entries[selection.index].id, maximumBodySize: options.maximumBodySize, file: options.file,
            cacheTime: options.cacheTime)
    }

    private func refresh(
        _ selection: Selection, of step: FetchStep, fields: HTTPFields, key: BackgroundRefreshes.Key,
        leaseStatus: LeaseStatus = .notRequested
    ) -> @Sendable () -> Void {
        { [context, step = step.withoutBodies] in
            var options = FetchOptions(
                maximumBodySize: key.maximumBodySize, file: key.file?.withoutDestination,
                cacheTime: key.cacheTime)
            options.purpose = .refresh
            let fetch = ManagedFetch(context, options: options, hasSlot: true, leaseStatus: leaseStatus) { event in
                switch event {
                case .finished(let result): context.refreshes.end(key, with: result)
                case .waitsForLease: context.refreshes.end(key, with: nil)
                default: break
                }
            }
            fetch.resume(step.refreshing(selection, fields: fields))
        }
    }
}
