import Foundation
import HTTPCaching

// What is kept of an answer. The session's delegate is asked what to store; what it gives is judged once more.
extension ManagedFetch {
    typealias Kept = @Sendable (StoredResponse?) -> Void

    /// Keeps what the server answered, if it may be kept; `done` gets the response with the fields that count.
    func keepReceived(_ exchange: Exchange, _ done: @escaping Kept) {
        let reception = exchange.reception
        guard let response = reception.response as? HTTPURLResponse, !reception.isTooLarge,
            exchange.hop.cacheRequest.method != "HEAD",
            reception.fields.contains("Location") || !reception.isMissingBytes(method: exchange.hop.cacheRequest.method)
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
        propose(CachedURLResponse(response: response, data: reception.body), received, exchange, done)
    }

    /// Keeps a response that was made of stored and received parts.
    func keep(_ response: StoredResponse, _ body: Data, _ exchange: Exchange, _ done: @escaping Kept) {
        let head = ResponseHead(url: exchange.hop.url, status: response.status, fields: response.serverFields)
        propose(CachedURLResponse(response: head.urlResponse, data: body), response, exchange, done)
    }

    private func propose(
        _ proposed: CachedURLResponse, _ response: StoredResponse, _ exchange: Exchange, _ done: @escaping Kept
    ) {
        ask(exchange, proposed) { [self] decided in
            guard let decided, isOpen, let stored = judged(decided, proposed, response, exchange) else {
                return done(nil)
            }
            let superseded = superseded(by: stored, exchange)
            let isKept = keep(of: exchange, bytes: decided.data.count) { store in
                superseded.forEach(store.remove)
                store.store(stored, decided)
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
        _ decided: CachedURLResponse, _ proposed: CachedURLResponse, _ response: StoredResponse, _ exchange: Exchange
    ) -> StoredResponse? {
        var stored = response
        stored.apply(decided, insteadOf: proposed)
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
        let proposed = CachedURLResponse(response: head.urlResponse, data: body)
        ask(exchange, proposed) { [self] decided in
            guard isOpen else { return done(nil) }
            var stored = freshened
            if let decided { stored.apply(decided, insteadOf: proposed) }
            guard let decided,
                Storing.objection(to: stored.status, stored.fields, answering: exchange.hop.cacheRequest) == nil
            else {
                fetcher.store.remove(entry)
                return done(nil)
            }
            if !SelectingFields.select(stored.fields, likeThoseOf: entry.response) {
                stored.selectingFields = SelectingFields.of(exchange.hop.cacheRequest, for: stored.fields)
            }
            let isKept = keep(of: exchange, bytes: decided.data.count) { [stored] store in
                if decided.data == body { return store.update(entry, to: stored) }
                if stored.selectingFields != entry.response.selectingFields { store.remove(entry) }
                store.store(stored, decided)
            }
            done(isKept ? stored : nil)
        }
    }

    /// `willCacheResponse`: what to store; nil for nothing.
    private func ask(
        _ exchange: Exchange, _ proposed: CachedURLResponse,
        _ decided: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard isOpen, let transfer = exchange.transfer else { return decided(nil) }
        transfer.willCache(proposed) { cached in
            decided(cached.flatMap { $0.storagePolicy == .notAllowed ? nil : $0 })
        }
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
    /// Takes over what the delegate changed.
    fileprivate mutating func apply(_ decided: CachedURLResponse, insteadOf proposed: CachedURLResponse) {
        guard decided !== proposed else { return }
        if decided.response !== proposed.response, let response = decided.response as? HTTPURLResponse {
            fields = HTTPFields(of: response)
            status = response.statusCode
        }
        injectedCacheControl = decided.userInfo?[InjectionMark.userInfoKey] as? String
    }
}
