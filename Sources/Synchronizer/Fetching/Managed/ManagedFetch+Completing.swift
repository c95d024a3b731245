import Foundation
import HTTPCaching

// What becomes of a finished exchange.
extension ManagedFetch {
    func complete(_ exchange: Exchange) {
        // A body can turn out too large before the transfer is known that brings it.
        if exchange.reception.isTooLarge { exchange.transfer?.cancel() }
        let now = fetcher.time.now
        var exchange = exchange
        exchange.hop.trace.note(exchange, at: now)
        switch exchange.outcome(fetcher.rules, at: now) {
        case .confirmed(let selection, let indices): confirm(exchange, selection, updating: indices)
        case .completed(let selection, let combination): combine(exchange, selection, combination)
        case .unconditionally: sendUnconditionally(exchange)
        case .stale(let selection): serveStale(exchange, selection)
        case .answered: accept(exchange)
        case .failed(let error):
            keepInterrupted(exchange)
            finish(.failure(.transport(error, .init(url: exchange.hop.url, trace: exchange.hop.trace))))
        }
    }

    private func sendUnconditionally(_ exchange: Exchange) {
        var hop = exchange.hop
        // A part that could not be completed is of no use: it would be asked about each time.
        if case .complete(let selection, _, _) = hop.verdict { fetcher.store.remove(hop.entries[selection.index]) }
        hop.verdict = .forward(HTTPFields(), fallback: nil, .mismatch)
        send(hop)
    }

    private func serveStale(_ exchange: Exchange, _ selection: Selection) {
        var hop = exchange.hop
        guard let body = body(hop, selection) else {
            // Nothing to fall back on after all.
            guard case .failure(let error) = exchange.end else { return accept(exchange) }
            return finish(.failure(.transport(error, .init(url: hop.url, trace: hop.trace))))
        }
        hop.trace.describe(selection, source: selection.freshness.isFresh ? .cache : .stale)
        deliver(hop, selection, hop.entries[selection.index].response, body, freshUntil: .distantPast)
    }

    /// A 304 to our validators: the stored response is the answer, with the fields that the server sent now.
    private func confirm(_ exchange: Exchange, _ selection: Selection, updating indices: [Int]) {
        var hop = exchange.hop
        let entry = hop.entries[selection.index]
        guard let whole = fetcher.store.body(of: entry), let body = selection.bytes(of: whole) else {
            return sendUnconditionally(exchange)
        }
        for index in indices where index != selection.index { freshen(hop.entries[index], by: exchange) }
        hop.trace.describe(selection, source: .revalidated)
        hop.trace.reason += "; the server confirmed it"
        guard indices.contains(selection.index) else {
            hop.trace.reason += " by a validator that it does not have"
            return deliver(hop, selection, entry.response, body, validated: true, freshUntil: .distantPast)
        }
        let freshened = exchange.freshened(entry.response)
        keepFreshened(freshened, entry, whole, exchange) { [self, hop] kept in
            let freshUntil = kept.map { fetcher.rules.expiration(of: $0, at: fetcher.time.now) } ?? .distantPast
            deliver(hop, selection, freshened, body, validated: true, freshUntil: freshUntil)
        }
    }

    /// What was stored and what has come, together.
    private func combine(_ exchange: Exchange, _ selection: Selection, _ combination: Combination) {
        var exchange = exchange
        let entry = exchange.hop.entries[selection.index]
        guard let old = fetcher.store.body(of: entry), let body = combination.body(old, exchange.reception.body),
            body.count <= options.maximumBodySize
        else { return sendUnconditionally(exchange) }
        let whole = combination.response(
            entry.response, with: exchange.reception.fields, bodySize: body.count,
            requestTime: exchange.requestTime, responseTime: exchange.reception.responseTime)
        exchange.hop.trace.source = .network
        exchange.hop.trace.reason = "the missing part was asked for"
        exchange.hop.trace.bytesSpared = old.count
        let head = ResponseHead(url: exchange.hop.url, status: 200, fields: whole.serverFields)
        keep(whole, body, exchange) { [self, exchange] kept in
            let freshUntil = kept.map { fetcher.rules.expiration(of: $0, at: fetcher.time.now) } ?? .distantPast
            deliver(
                exchange.hop, Answer(status: 200, head: head, location: nil, body: body, freshUntil: freshUntil))
        }
    }

    /// The server's answer is the result.
    private func accept(_ exchange: Exchange) {
        var hop = exchange.hop
        let reception = exchange.reception
        if case .forward(_, _, let reason) = hop.verdict { hop.trace.explain(reason) }
        if case .complete(let selection, _, _) = hop.verdict { hop.trace.explain(selection.explanation) }
        if case .validate(let selection, _) = hop.verdict {
            hop.trace.describe(selection, source: .network)
            hop.trace.reason += "; the server sent another"
        }
        hop.trace.source = .network
        if reception.isTooLarge, (200..<300).contains(reception.status) {
            let context = SynchronizerError.Context(url: hop.url, trace: hop.trace, head: reception.head, body: nil)
            return finish(.failure(.tooLarge(limit: options.maximumBodySize, context)))
        }
        guard let head = reception.head else {
            return finish(.failure(.transport(URLError(.badServerResponse), .init(url: hop.url, trace: hop.trace))))
        }
        var exchange = exchange
        applySideEffects(of: &exchange)
        let location = reception.fields.reference("Location")
        keepReceived(exchange) { [self, hop] kept in
            let now = fetcher.time.now
            let freshUntil = kept.map { fetcher.rules.expiration(of: $0, at: now) } ?? .distantPast
            var hop = hop
            if let kept { hop.trace.describe(Freshness(of: kept, rules: fetcher.rules, at: now)) }
            deliver(
                hop,
                Answer(
                    status: head.status, head: head, location: location, body: reception.body,
                    freshUntil: freshUntil))
        }
    }
}

extension Combination {
    /// The bytes of the two parts in order; nil if the stored body is not what it was.
    func body(_ old: Data, _ new: Data) -> Data? {
        guard before.upperBound <= old.count, after.upperBound <= old.count else { return nil }
        var body = Data(old.prefix(before.count))
        body.append(new)
        body.append(old.dropFirst(after.lowerBound).prefix(after.count))
        return body
    }
}

extension LoadTrace {
    /// Notes what an exchange took and brought.
    mutating func note(_ exchange: Exchange, at now: Date) {
        bytesReceived += exchange.reception.body.count
        network = exchange.network ?? network
        guard let head = exchange.reception.head else { return }
        status = head.status
        timeToFirstByte = exchange.reception.responseTime.timeIntervalSince(exchange.requestTime)
        transfer = now.timeIntervalSince(exchange.reception.responseTime)
    }
}
