import Foundation
import HTTPCaching

// The fifth stage: what is stored of a response. The session's delegate decides first; then the rules check its decision.
extension ManagedFetch {
    /// Called with the response as it was stored (nil if it was not), and with what the cache did with it (nil if there was no
    /// response to store).
    typealias Kept = @Sendable (KeptResponse?, ResponseStoring?) -> Void

    /// Notes what became of a response, for its trace, the next load's, and the observer.
    func note(_ storing: ResponseStoring?, in step: inout FetchStep) {
        guard let storing else { return }
        step.trace.storing = storing
        cache.reasons.note(storing, for: step.cacheRequest)
        if case .notStored(let reason) = storing { report(.notStored(reason)) }
    }

    /// Makes the change if delegate and rules allow it.
    func make(_ change: CacheChange, after exchange: Exchange, done: @escaping Kept) {
        switch change {
        case .none(let reason):
            if reason != nil { removeOutdated(by: exchange) }
            done(nil, reason.map { .notStored($0) })
        case .store(let response, let body, let file): store(response, body: body, file: file, of: exchange, done: done)
        case .freshen(let entry, let response, let body):
            freshen(entry, to: response, body: body, of: exchange, done: done)
        }
    }

    /// The change that stores the server's response, if a delegate could want it stored.
    func change(storing exchange: Exchange, file: BodyFile?) -> CacheChange {
        let received = exchange.received
        guard received.head?.isHTTP == true else { return .none(nil) }
        guard !received.isTooLarge else { return .none(.tooLarge) }
        guard exchange.step.cacheRequest.method != "HEAD" else { return .none(.method) }
        let objection = CacheRules.objection(
            toStoring: received.status, fields: received.fields, answering: exchange.step.cacheRequest)
        // A delegate may make a response cacheable.
        if let objection, objection != .notCacheable { return .none(.init(objection)) }
        if file == nil, let merged = merged(exchange) { return merged }
        let part =
            received.status == 206 ? CacheRules.part(of: received.fields, bodySize: received.count) : nil
        guard received.status != 206 || part != nil else { return .none(.status) }
        var response = StoredResponse(
            url: exchange.step.cacheRequest.url,
            method: exchange.step.cacheRequest.storedMethod,
            selectingFields: HTTPFields(),
            status: received.status, fields: received.fields, requestTime: exchange.requestTime,
            responseTime: received.time, part: part)
        response.becomeWhole()
        return .store(response, body: received.body, file: file)
    }

    private func store(
        _ response: StoredResponse, body: Data, file: BodyFile?, of exchange: Exchange, done: @escaping Kept
    ) {
        let head = ResponseHead(url: exchange.step.url, status: response.status, fields: response.serverFields)
        askDelegate(about: head, body: body, of: exchange) { [self] decision in
            guard isOpen else { return done(nil, .notStored(.invalidated)) }
            let stored: StoredResponse
            switch checked(decision, on: response, of: exchange) {
            case .success(let checked): stored = checked
            case .failure(let refusal):
                removeOutdated(by: exchange)
                return done(nil, .notStored(refusal.reason))
            }
            let superseded = superseded(by: stored, of: exchange)
            let size = max(decision.size(of: body), file?.count ?? 0)
            let kept = change(after: exchange, bytes: size) {
                superseded.forEach(cache.remove)
                let content = decision.content(of: exchange.step.url, body: body)
                guard let file, content.data.isEmpty else { return cache.store(stored, content: content) }
                return cache.store(stored, content: content, file: file)
            }
            done(kept, ResponseStoring(kept))
        }
    }

    /// Stores the new fields of a confirmed entry.
    private func freshen(
        _ entry: CacheEntry, to freshened: StoredResponse, body: Data, of exchange: Exchange, done: @escaping Kept
    ) {
        let head = ResponseHead(url: exchange.step.url, status: freshened.status, fields: freshened.fields)
        askDelegate(about: head, body: body, of: exchange) { [self] decision in
            guard isOpen else { return done(nil, nil) }
            let request = exchange.step.cacheRequest
            var stored: StoredResponse
            switch allowed(decision, on: freshened, answering: request) {
            case .success(let allowed):
                // `rebound` never returns nil here, because the request is known.
                stored = rebound(allowed, from: entry, to: request, of: exchange) ?? allowed
            case .failure(let refusal):
                cache.remove(entry)
                return done(nil, .notStored(refusal.reason))
            }
            stored.decide()
            let content = decision.content(of: exchange.step.url, body: body)
            let kept = change(after: exchange, bytes: content.data.count) { [stored] in
                if content.data == body { return cache.update(entry, to: stored) }
                if stored.selectingFields != entry.response.selectingFields { cache.remove(entry) }
                return cache.store(stored, content: content)
            }
            done(kept, ResponseStoring(kept))
        }
    }

    /// The updated response of an entry, as it may be stored; nil if the entry must be removed.
    /// - Parameter request: the request that the entry answers; nil if another entry answers it.
    func rebound(
        _ updated: StoredResponse, from entry: CacheEntry, to request: CacheRequest?, of exchange: Exchange
    ) -> StoredResponse? {
        CacheRules.rebound(
            updated, from: entry.response, to: request, among: siblings(of: exchange).map(\.response))
    }

    /// Changes the cache, and reports the change if the store keeps the response. Nil if the response was invalidated since the
    /// request was sent, or if the store refuses it, because it comes too late.
    func change(
        after exchange: Exchange, bytes: Int, _ change: () -> KeptResponse?
    ) -> KeptResponse? {
        let kept = cache.change(exchange.step.cacheRequest.url, since: exchange.mark, change)
        if let kept, kept.refusal == nil { report(.stored(bytes)) }
        return kept
    }

    /// Keeps the beginning of a body that was cut short, for the next attempt.
    func keepInterrupted(_ exchange: Exchange) {
        if options.file != nil { return keepFile(of: exchange) }
        var old: Data?
        if case .complete(let selection, _, _) = exchange.step.decision {
            old = cache.body(of: exchange.step.entries[selection.index])
        }
        guard let (response, body) = exchange.interrupted(after: old) else { return }
        _ = cache.change(response.url, since: exchange.mark) { () -> Void? in
            cache.keepInterrupted(response, body: body)
        }
    }

    /// The response with the delegate's changes, unless the delegate or the rules refuse it.
    private func allowed(
        _ decision: StorageDecision, on response: StoredResponse, answering request: CacheRequest
    ) -> Result<StoredResponse, StoringRefusal> {
        guard let stored = response.applying(decision) else { return .failure(.init(reason: .refusedByDelegate)) }
        if let objection = CacheRules.objection(
            toStoring: stored.status, fields: stored.fields, answering: request)
        {
            return .failure(.init(reason: .init(objection)))
        }
        return .success(stored)
    }

    /// The response as it will be stored: with the delegate's fields, without fields that must not be stored.
    private func checked(
        _ decision: StorageDecision, on response: StoredResponse, of exchange: Exchange
    ) -> Result<StoredResponse, StoringRefusal> {
        let request = exchange.step.cacheRequest
        return allowed(decision, on: response, answering: request).map { allowed in
            var stored = allowed
            let siblings = siblings(of: exchange).map(\.response)
            stored.selectingFields = CacheRules.selectingFields(of: request, for: stored.fields, among: siblings)
            stored.fields = CacheRules.storedFields(of: stored.fields, receivedAt: stored.responseTime)
            stored.decide()
            return stored
        }
    }

    /// The entries for the URL. They are read from the cache if the step did not look them up.
    func siblings(of exchange: Exchange) -> [CacheEntry] {
        let request = exchange.step.cacheRequest
        return request.policy.looksUp ? exchange.step.entries : cache.entries(for: request.url)
    }

    private func superseded(by stored: StoredResponse, of exchange: Exchange) -> [CacheEntry] {
        guard stored.fields.contains(FieldName.vary) else { return [] }
        let siblings = siblings(of: exchange)
        let superseded = CacheRules.superseded(
            by: stored.fields, answering: exchange.step.cacheRequest, among: siblings.map(\.response))
        return superseded.map { siblings[$0] }
    }

    /// Removes the entries that are older than a response that is not stored.
    func removeOutdated(by exchange: Exchange) {
        let request = exchange.step.cacheRequest
        guard exchange.received.head?.isHTTP == true,
            CacheRules.outdatesStored(exchange.received.status, answering: request)
        else { return }
        let siblings = siblings(of: exchange)
        let outdated = CacheRules.outdated(for: request, among: siblings.map(\.response))
        for index in outdated where siblings[index].response.requestTime <= exchange.requestTime {
            cache.remove(siblings[index])
        }
    }

    /// Asks `willCacheResponse` what to store.
    private func askDelegate(
        about head: ResponseHead, body: Data, of exchange: Exchange,
        decided: @escaping @Sendable (StorageDecision) -> Void
    ) {
        guard isOpen, let transfer = exchange.transfer else { return decided(.nothing) }
        transfer.willCache(head, body: body, cacheTime: options.cacheTime, decided: decided)
    }

    /// Combines a received part with a stored one if they fit together (RFC 9111 §3.4).
    private func merged(_ exchange: Exchange) -> CacheChange? {
        let received = exchange.received
        guard received.status == 206 else { return nil }
        for entry in cache.entries(for: exchange.step.cacheRequest.url) {
            let combination = CacheRules.combination(
                of: entry.candidate, with: received.status, fields: received.fields, bodySize: received.body.count)
            guard let combination, CacheRules.selects(entry.response, for: exchange.step.cacheRequest),
                let old = cache.body(of: entry), let body = combination.body(old: old, new: received.body),
                body.count <= options.maximumBodySize
            else { continue }
            let response = combination.response(
                from: entry.response, with: received.fields, bodySize: body.count,
                requestTime: exchange.requestTime, responseTime: received.time)
            return .store(response, body: body)
        }
        return nil
    }
}

/// Why a response is not stored.
private struct StoringRefusal: Error {
    let reason: ResponseStoring.Reason
}

extension StoredResponse {
    /// The response with the delegate's changes; nil if the delegate wants nothing stored.
    fileprivate func applying(_ decision: StorageDecision) -> StoredResponse? {
        var response = self
        switch decision {
        case .nothing: return nil
        case .proposed(let injected):
            if let injected { response.fields[FieldName.cacheControl] = injected }
            response.injectedCacheControl = injected ?? injectedCacheControl
        case .replaced(let cached, let hasOtherHead):
            if hasOtherHead, let http = cached.response as? HTTPURLResponse {
                response.fields = HTTPFields(of: http)
                response.status = http.statusCode
            }
            response.injectedCacheControl = cached.userInfo?[InjectionMark.userInfoKey] as? String
        }
        return response
    }
}

extension StorageDecision {
    /// The size of the body to store.
    fileprivate func size(of body: Data) -> Int {
        if case .replaced(let cached, _) = self { return cached.data.count }
        return body.count
    }

    /// The body to store, with storage policy and user info. Stores read only the URL of its response.
    fileprivate func content(of url: URL, body: Data) -> CachedURLResponse {
        if case .replaced(let cached, _) = self { return cached }
        let head = URLResponse(url: url, mimeType: nil, expectedContentLength: body.count, textEncodingName: nil)
        return CachedURLResponse(response: head, data: body)
    }
}
