import Foundation
import HTTPCaching

/// What a finished exchange leads to.
enum Conclusion: Sendable {
    case answer(Answer, CacheChange)
    case sendAgain(FetchStep)
    case failure(SynchronizerError)
}

/// A change of the cache that an answer waits for.
enum CacheChange: Sendable {
    /// The response is not stored; without a reason there is none to store.
    case none(ResponseStoring.Reason?)
    /// The server confirmed the entry, which gets new fields.
    case freshen(CacheEntry, to: StoredResponse, body: Data)
    case store(StoredResponse, body: Data, file: BodyFile? = nil)
}

// Between sending and answering: what an exchange means.
extension ManagedFetch {
    /// Concludes an exchange.
    func conclusion(of exchange: inout Exchange) -> Conclusion {
        // When the load ends, other processes miss these entries, too.
        for key in exchange.invalidatedKeys { cache.finishRemoval(of: key) }
        // The body may have turned out too large before the transfer was known.
        if exchange.received.isTooLarge { exchange.transfer?.cancel() }
        let now = cache.time.now
        exchange.step.trace.note(exchange, at: now)
        switch exchange.result(cache.rules, at: now) {
        case .confirmed(let selection, let indices): return confirm(exchange, selection: selection, updating: indices)
        case .completed(let selection, let combination):
            return combine(exchange, selection: selection, with: combination)
        case .mismatch: return sendUnconditionally(exchange)
        case .stale(let selection): return useStale(selection, after: &exchange)
        case .answered: return accept(&exchange)
        case .failed(let error): return fail(error, after: &exchange)
        }
    }

    private func fail(_ error: any Error, after exchange: inout Exchange) -> Conclusion {
        if exchange.received.status == 206, exchange.resumption == nil { removePart(of: exchange.step) }
        keepInterrupted(exchange)
        if exchange.received.head != nil {
            let writing: ResponseStoring.Reason = cache.isMissing ? .noCache : .diskFailed
            note(.notStored(error is FileError ? writing : .incomplete), in: &exchange.step)
        }
        return .failure(.init(error, context: exchange.step.context))
    }

    /// Sends the request again. The response may have set cookies: the session sends them now, so the new response is stored for
    /// them.
    private func sendUnconditionally(_ exchange: Exchange) -> Conclusion {
        var step = exchange.step
        step.cacheRequest.sessionHeaders = HTTPFields(context.transport.sessionHeaders(for: step.request))
        removePart(of: step)
        exchange.file?.drop()  // the file may have that part, followed by bytes that do not belong to it
        step.decision = .forward(step.cacheRequest.directiveFields, fallback: nil, .mismatch)
        return .sendAgain(step)
    }

    /// A part that could not be completed is useless: the same rest would be requested each time.
    private func removePart(of step: FetchStep) {
        if case .complete(let selection, _, _) = step.decision { cache.remove(step.entries[selection.index]) }
    }

    /// Answers with a stored response instead of the failure. If its body is gone, looks up again: another load may have replaced
    /// the response.
    private func useStale(_ selection: Selection, after exchange: inout Exchange) -> Conclusion {
        if let answer = staleAnswer(selection, of: exchange.step) { return .answer(answer, .none(nil)) }
        if let (step, newer) = replacement(after: exchange), let answer = staleAnswer(newer, of: step) {
            return .answer(answer, .none(nil))
        }
        guard let error = exchange.failure else { return accept(&exchange) }
        return fail(error, after: &exchange)
    }

    /// The stored answer; nil if its body is gone.
    private func staleAnswer(_ selection: Selection, of step: FetchStep) -> Answer? {
        guard let body = bytes(for: selection, of: step) else { return nil }
        var step = step
        step.trace.describe(selection, source: selection.freshness.isFresh ? .cache : .stale)
        let offer = offer(for: selection, of: step)
        return answer(
            step, with: selection, of: step.entries[selection.index].response, body: body, offer: offer)
    }

    /// Looks the entries up again, and returns what may be used instead of the failure. Nil if there is nothing, if the session
    /// has other cookies by now, or if it has sent a credential that the request does not show.
    private func replacement(after exchange: Exchange) -> (FetchStep, Selection)? {
        let old = exchange.step
        guard let step = step(from: old.again),
            Set(step.cacheRequest.sessionHeaders.lines) == Set(old.cacheRequest.sessionHeaders.lines)
        else { return nil }
        switch step.decision {
        case .reuse(let selection), .reuseWhileRevalidating(let selection, _): return (step, selection)
        default:
            var again = exchange
            again.step = step
            guard case .stale(let selection) = again.result(cache.rules, at: cache.time.now) else { return nil }
            return (step, selection)
        }
    }

    /// The server confirmed the selected response with a 304: it is the answer, with the fields of the 304.
    private func confirm(_ exchange: Exchange, selection: Selection, updating indices: [Int]) -> Conclusion {
        var step = exchange.step
        let entry = step.entries[selection.index]
        let stored = options.file == nil ? cache.body(of: entry).map(StoredBytes.data) : cache.bytes(of: entry)
        guard let whole = stored, let body = selection.bytes(of: whole) else { return sendUnconditionally(exchange) }
        for index in indices where index != selection.index { freshen(step.entries[index], by: exchange) }
        step.trace.describe(selection, source: .revalidated)
        step.trace.reason += "; the server confirmed it"
        let isConfirmed = indices.contains(selection.index)
        if !isConfirmed { step.trace.reason += " by a validator that it does not have" }
        let response = isConfirmed ? exchange.freshened(entry.response) : entry.response
        let offer = offer(for: selection, of: step)
        return .answer(
            answer(
                step, with: selection, of: response, body: body, offer: offer, validated: isConfirmed,
                requested: exchange.requestTime),
            isConfirmed ? .freshen(entry, to: response, body: whole.data) : .none(nil))
    }

    /// The rest of a stored part has arrived: the two together are the answer.
    private func combine(_ exchange: Exchange, selection: Selection, with combination: Combination) -> Conclusion {
        let entry = exchange.step.entries[selection.index]
        if options.file != nil { return complete(exchange, entry: entry, with: combination) }
        guard let old = cache.body(of: entry), let body = combination.body(old: old, new: exchange.received.body),
            body.count <= options.maximumBodySize
        else { return sendUnconditionally(exchange) }
        return combined(exchange, entry: entry, with: combination, body: body, file: nil, saved: old.count)
    }

    /// The answer is a stored part together with the rest.
    func combined(
        _ exchange: Exchange, entry: CacheEntry, with combination: Combination, body: Data, file: BodyFile?,
        saved: Int
    ) -> Conclusion {
        let whole = combination.response(
            from: entry.response, with: exchange.received.fields, bodySize: file?.count ?? body.count,
            requestTime: exchange.requestTime, responseTime: exchange.received.time)
        var step = exchange.step
        step.trace.source = .network
        step.trace.reason = "the missing part was requested"
        step.trace.bytesSaved = saved
        let head = ResponseHead(url: step.url, status: 200, fields: whole.serverFields)
        let answer = Answer(step: step, head: head, body: body, file: file, requested: exchange.requestTime)
        return .answer(answer, .store(whole, body: body, file: file))
    }

    /// The server's response is the answer.
    private func accept(_ exchange: inout Exchange) -> Conclusion {
        exchange.step.trace.describeAccepted(
            exchange.step.decision, previously: cache.reasons.reason(for: exchange.step.cacheRequest))
        if exchange.received.isTooLarge, (200..<300).contains(exchange.received.status) {
            note(.notStored(.tooLarge), in: &exchange.step)
            let step = exchange.step
            exchange.file?.drop()
            return .failure(
                .tooLarge(
                    limit: options.maximumBodySize,
                    .init(url: step.url, trace: step.trace, head: exchange.received.head, body: nil)))
        }
        guard let head = exchange.received.head else {
            return .failure(.transport(URLError.notHTTP, exchange.step.context))
        }
        applySideEffects(of: exchange)
        do {
            let file = try exchange.file?.finish()
            let answer = Answer(
                step: exchange.step, head: head, body: exchange.received.body, file: file,
                isBodyDropped: exchange.received.isTooLarge, requested: exchange.requestTime, describesStored: true)
            return .answer(answer, change(storing: exchange, file: file))
        } catch {
            note(.notStored(.diskFailed), in: &exchange.step)
            return .failure(.file(error, exchange.step.context))
        }
    }
}

extension Combination {
    /// The bytes of the two parts in order; nil if the stored body has changed.
    func body(old: Data, new: Data) -> Data? {
        guard before.upperBound <= old.count, after.upperBound <= old.count else { return nil }
        var body = Data(old.prefix(before.count))
        body.append(new)
        body.append(old.dropFirst(after.lowerBound).prefix(after.count))
        return body
    }
}

extension LoadTrace {
    /// Notes the timings and bytes of an exchange.
    fileprivate mutating func note(_ exchange: Exchange, at now: Date) {
        bytesReceived += exchange.received.count
        network = exchange.network ?? network
        guard let head = exchange.received.head else { return }
        status = head.status
        timeToFirstByte = exchange.received.time.timeIntervalSince(exchange.requestTime)
        transfer = now.timeIntervalSince(exchange.received.time)
    }

    /// Says that the server's response is the answer, and why the server was asked.
    fileprivate mutating func describeAccepted(
        _ decision: CacheDecision, previously notStored: ResponseStoring.Reason?
    ) {
        switch decision {
        case .forward(_, _, let reason): explain(reason, previously: notStored)
        case .complete(let selection, _, _): explain(selection.explanation)
        case .validate(let selection, _):
            describe(selection, source: .network)
            let isAnother = status.map(CacheRules.describesResource) ?? false
            reason += isAnother ? "; the server sent another" : "; the server answered with another status"
        case .reuse, .reuseWhileRevalidating, .refuse: break
        }
        source = .network
    }
}
