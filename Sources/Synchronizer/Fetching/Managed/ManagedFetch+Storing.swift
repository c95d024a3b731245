import Foundation
import HTTPCaching

// What is kept of an answer. The session's delegate is asked what to store; what it gives is judged once more.
extension ManagedFetch {
    typealias Kept = @Sendable (StoredResponse?) -> Void

    /// Keeps what the server answered, if it may be kept; `done` gets the response with the fields that count.
    func keepReceived(_ exchange: Exchange, _ done: @escaping Kept) {
        let reception = exchange.reception
        guard reception.head?.isHTTP == true, !reception.isTooLarge, exchange.hop.cacheRequest.method != "HEAD"
        else { return done(nil) }
        switch Storing.objection(to: reception.status, reception.fields, answering: exchange.hop.cacheRequest) {
        case nil, .notCacheable: break  // a delegate may make it cacheable
        default: return done(nil)
        }
        if let (merged, body) = merged(exchange) { return keep(merged, body, exchange, done) }
        let part = reception.status == 206 ? Storing.part(of: reception.fields, bodySize: reception.body.count) : nil
        guard reception.status != 206 || part != nil else { return done(nil) }
        let received = StoredResponse(
            url: exchange.hop.cacheRequest.url, method: "GET", selectingFields: HTTPFields(), status: reception.status,
            fields: reception.fields, requestTime: exchange.requestTime, responseTime: reception.responseTime,
            part: part)
        keep(received, reception.body, exchange, done)
    }

    /// Keeps a response and its body, as the delegate wants them.
    func keep(_ response: StoredResponse, _ body: Data, _ exchange: Exchange, _ done: @escaping Kept) {
        let head = ResponseHead(url: exchange.hop.url, status: response.status, fields: response.serverFields)
        ask(exchange, head, body) { [self] decision in
            guard isOpen, let stored = judged(decision, response, exchange) else { return done(nil) }
            let content = decision.content(of: exchange.hop.url, body)
            let superseded = superseded(by: stored, exchange)
            let isKept = keep(of: exchange, bytes: content.data.count) { store in
                superseded.forEach(store.remove)
                store.store(stored, content)
            }
            done(isKept ? stored : nil)
        }
    }

    /// Changes the store by what an exchange has brought; false if that was made invalid since it was sent (RFC 9111
    /// §4.4). That is noted before what is stored is removed: so it is enough to ask before and after the change.
    private func keep(of exchange: Exchange, bytes: Int, _ change: (InterruptedTransfers) -> Void) -> Bool {
        let key = exchange.hop.cacheRequest.url
        guard !isInvalidated(exchange) else { return false }
        fetcher.finishRemoval(of: key)
        change(fetcher.store)
        if isInvalidated(exchange) {
            fetcher.store.removeEntries(for: key)
            return false
        }
        report(.stored(bytes))
        return true
    }

    private func isInvalidated(_ exchange: Exchange) -> Bool {
        fetcher.invalidations.isInvalid(exchange.hop.cacheRequest.url, since: exchange.mark)
    }

    /// What has come of a body that was cut short is of use to the next try.
    func keepInterrupted(_ exchange: Exchange) {
        var old: Data?
        if case .complete(let selection, _, _) = exchange.hop.verdict {
            old = fetcher.store.body(of: exchange.hop.entries[selection.index])
        }
        guard let (response, body) = exchange.interrupted(after: old), !isInvalidated(exchange) else { return }
        fetcher.store.keep(response, body)
        if isInvalidated(exchange) { fetcher.store.removeEntries(for: response.url) }
    }

    /// The response as it is to be stored: with the fields that the delegate wants, and none of those that must not be
    /// kept; nil if it must not be stored.
    private func judged(
        _ decision: CacheDecision, _ response: StoredResponse, _ exchange: Exchange
    ) -> StoredResponse? {
        guard var stored = response.decided(decision) else { return nil }
        let request = exchange.hop.cacheRequest
        guard Storing.objection(to: stored.status, stored.fields, answering: request) == nil else { return nil }
        let siblings = siblings(exchange).map(\.response)
        stored.selectingFields = SelectingFields.of(request, for: stored.fields, among: siblings)
        stored.fields = Storing.storedFields(of: stored.fields, receivedAt: stored.responseTime)
        return stored
    }

    private func siblings(_ exchange: Exchange) -> [StoredEntry] {
        let request = exchange.hop.cacheRequest
        return request.policy.looksUp ? exchange.hop.entries : fetcher.store.entries(for: request.url)
    }

    private func superseded(by stored: StoredResponse, _ exchange: Exchange) -> [StoredEntry] {
        guard stored.fields.contains("Vary") else { return [] }
        let siblings = siblings(exchange)
        let superseded = SelectingFields.superseded(
            by: stored.fields, answering: exchange.hop.cacheRequest, among: siblings.map(\.response))
        return superseded.map { siblings[$0] }
    }

    /// Keeps a stored response that the server has confirmed, with its new fields.
    func keepFreshened(
        _ freshened: StoredResponse, _ entry: StoredEntry, _ body: Data, _ exchange: Exchange, _ done: @escaping Kept
    ) {
        let head = ResponseHead(url: exchange.hop.url, status: freshened.status, fields: freshened.fields)
        ask(exchange, head, body) { [self] decision in
            guard isOpen else { return done(nil) }
            guard var stored = freshened.decided(decision),
                Storing.objection(to: stored.status, stored.fields, answering: exchange.hop.cacheRequest) == nil
            else {
                fetcher.store.remove(entry)
                return done(nil)
            }
            if !SelectingFields.select(stored.fields, likeThoseOf: entry.response) {
                stored.selectingFields = SelectingFields.of(exchange.hop.cacheRequest, for: stored.fields)
            }
            let content = decision.content(of: exchange.hop.url, body)
            let isKept = keep(of: exchange, bytes: content.data.count) { [stored] store in
                if content.data == body { return store.update(entry, to: stored) }
                if stored.selectingFields != entry.response.selectingFields { store.remove(entry) }
                store.store(stored, content)
            }
            done(isKept ? stored : nil)
        }
    }

    /// `willCacheResponse`: what to store.
    private func ask(
        _ exchange: Exchange, _ head: ResponseHead, _ body: Data,
        _ decided: @escaping @Sendable (CacheDecision) -> Void
    ) {
        guard isOpen, let transfer = exchange.transfer else { return decided(.nothing) }
        transfer.willCache(head, body, decided: decided)
    }

    // MARK: - What an answer does to other stored responses

    func applySideEffects(of exchange: inout Exchange) {
        let hop = exchange.hop
        let reception = exchange.reception
        let keys = Invalidation.keys(after: hop.cacheRequest, status: reception.status, reception.fields)
        if !keys.isEmpty {
            fetcher.invalidations.note(keys)
            exchange.mark = fetcher.invalidations.now  // the answer itself may be stored
            for key in keys { fetcher.store.removeEntries(for: key) }
            report(.invalidated(keys))
        }
        if reception.status == 304 {
            let named = Freshening.candidates(namedBy: reception.fields, among: hop.candidates, for: hop.cacheRequest)
            for index in named { freshen(hop.entries[index], by: exchange) }
        }
        if hop.cacheRequest.method == "HEAD", reception.status == 200 { applyHead(exchange) }
    }

    private func applyHead(_ exchange: Exchange) {
        for entry in exchange.hop.entries {
            let reception = exchange.reception
            switch Freshening.headUpdates(entry.candidate, by: reception.fields, for: exchange.hop.cacheRequest) {
            case true?: freshen(entry, by: exchange)
            case false?: fetcher.store.remove(entry)
            case nil: break
            }
        }
    }

    /// Updates a stored response that is not the answer itself. An injected lifetime begins anew. If more request fields
    /// select it by now, it is dropped: what they were in the request that it was stored for is not known.
    func freshen(_ entry: StoredEntry, by exchange: Exchange) {
        var freshened = exchange.freshened(entry.response)
        guard SelectingFields.select(freshened.fields, likeThoseOf: entry.response) else {
            return fetcher.store.remove(entry)
        }
        if let injected = entry.response.injectedCacheControl, !freshened.fields.contains("Cache-Control"),
            !freshened.fields.contains("Expires")
        {
            freshened.fields.add("Cache-Control", injected)
            freshened.injectedCacheControl = injected
        }
        _ = keep(of: exchange, bytes: entry.bodySize) { [freshened] in $0.update(entry, to: freshened) }
    }

    /// A part that has come and what was stored before, where the two fit together (RFC 9111 §3.4).
    private func merged(_ exchange: Exchange) -> (StoredResponse, Data)? {
        let reception = exchange.reception
        guard reception.status == 206 else { return nil }
        for entry in fetcher.store.entries(for: exchange.hop.cacheRequest.url) {
            let combination = Combination(
                of: entry.candidate, with: reception.status, reception.fields, bodySize: reception.body.count)
            guard let combination, SelectingFields.match(exchange.hop.cacheRequest, entry.response),
                let old = fetcher.store.body(of: entry), let body = combination.body(old, reception.body),
                body.count <= options.maximumBodySize
            else { continue }
            let response = combination.response(
                entry.response, with: reception.fields, bodySize: body.count, requestTime: exchange.requestTime,
                responseTime: reception.responseTime)
            return (response, body)
        }
        return nil
    }
}

extension Exchange {
    func freshened(_ response: StoredResponse) -> StoredResponse {
        Freshening.freshened(
            response, by: reception.fields, requestTime: requestTime, responseTime: reception.responseTime)
    }
}

extension StoredResponse {
    /// With what the delegate changed; nil if it wants nothing stored.
    fileprivate func decided(_ decision: CacheDecision) -> StoredResponse? {
        var decided = self
        switch decision {
        case .nothing: return nil
        case .proposed(let injected):
            if let injected { decided.fields["Cache-Control"] = injected }
            decided.injectedCacheControl = injected ?? injectedCacheControl
        case .replaced(let cached, let hasOtherHead):
            if hasOtherHead, let response = cached.response as? HTTPURLResponse {
                decided.fields = HTTPFields(of: response)
                decided.status = response.statusCode
            }
            decided.injectedCacheControl = cached.userInfo?[InjectionMark.userInfoKey] as? String
        }
        return decided
    }
}

extension CacheDecision {
    /// What the store is given beside the response. The head in it says the URL, and no more: the rest would not be read.
    fileprivate func content(of url: URL, _ body: Data) -> CachedURLResponse {
        if case .replaced(let cached, _) = self { return cached }
        let head = URLResponse(url: url, mimeType: nil, expectedContentLength: body.count, textEncodingName: nil)
        return CachedURLResponse(response: head, data: body)
    }
}
