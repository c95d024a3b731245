import Foundation
import HTTPCaching

// The result of a finished task, and what the session stores of it.
extension NativeFetch {
    func complete(_ task: NativeTask, with error: (any Error)?) {
        let isWhole = error == nil && !task.received.isCutShort
        var task = task
        if !isWhole, task.received.head != nil { task.storing = .notStored(.incomplete) }
        var trace = task.trace(at: cache.time.now)
        guard isWhole, let head = task.received.head else {
            noteStoring(by: task, trace: trace)
            return finish(.failure(failure(error ?? URLError.incompleteResponse, of: task, trace: trace)))
        }
        removeIfInvalid(task)
        if trace.source == .network { trace.addReason(previously: previousReason(for: task.cacheRequest)) }
        noteStoring(by: task, trace: trace)
        finish(result(of: task, head: head, trace: trace))
    }

    func noteStoring(by task: NativeTask, trace: LoadTrace) {
        if let request = task.cacheRequest { cache.reasons.note(trace.storing, for: request) }
        if case .notStored(let reason)? = trace.storing { report(.notStored(reason)) }
    }

    /// The error of the load. The session reports some errors for a miss if it must not use the network: these are no network
    /// failures.
    private func failure(_ error: any Error, of task: NativeTask, trace: LoadTrace) -> SynchronizerError {
        let url = task.current.url ?? request.url
        switch (error as? URLError)?.code {
        case .resourceUnavailable?, .cannotLoadFromNetwork?:
            var trace = trace
            trace.addReason(previously: previousReason(for: task.cacheRequest))
            return .notCached(.init(url: url, trace: trace))
        default: return .init(error, context: .init(url: url, trace: trace))
        }
    }

    /// Removes the entries that an unsafe request has changed (RFC 9111 §4.4). The head of its response suffices, as in managed
    /// mode. `head` belongs to the request in flight: the response to a `POST` may be a redirect to a `GET`.
    func invalidate(by head: ResponseHead, of task: NativeTask) {
        guard head.isHTTP, let request = task.cacheRequest else { return }
        let keys = CacheRules.invalidatedKeys(after: request, status: head.status, fields: head.fields)
        guard !keys.isEmpty else { return }
        let requests = keys.compactMap { URL(string: $0) }.map { URLRequest(url: $0) }
        let mark = cache.removeSoon(for: requests, keeping: task.mark, of: request.url)
        update { $0.mark = mark }
        report(.invalidated(keys))
    }

    /// Notes that the session follows a redirect.
    func follow(_ redirect: ResponseHead, to next: URLRequest, of task: NativeTask) {
        invalidate(by: redirect, of: task)
        var lifetime = task.redirectLifetime
        lifetime.add(redirect.fields, freshUntil: expiration(of: redirect), isBound: isBound(redirect, of: task))
        let (cacheRequest, mark) = (cacheRequest(of: next), cache.invalidations.now)
        update { $0.follow(next, cacheRequest: cacheRequest, mark: mark, redirectLifetime: lifetime) }
        if let url = next.url { report(.redirected(to: url)) }
    }

    /// When a redirect expires that arrives now.
    private func expiration(of redirect: ResponseHead) -> Date {
        let now = cache.time.now
        let response = StoredResponse(
            url: "", method: "GET", selectingFields: HTTPFields(),
            status: redirect.status, fields: redirect.fields, requestTime: now, responseTime: now)
        return cache.rules.expiration(of: response, at: now)
    }

    private func isBound(_ head: ResponseHead, of task: NativeTask) -> Bool {
        task.cacheRequest?.isBoundToSession(by: head, maySendCookies: task.current.httpShouldHandleCookies) ?? false
    }

    /// Removes the response if it was invalidated while it was in flight.
    private func removeIfInvalid(_ task: NativeTask) {
        guard let url = task.current.url else { return }
        let key = CacheRules.cacheKey(of: url.absoluteString)
        if cache.invalidations.isInvalid(key, since: task.mark) { cache.removeSoon(task.current, key: key) }
    }

    private func result(
        of task: NativeTask, head: ResponseHead, trace: LoadTrace
    ) -> Result<Fetched, SynchronizerError> {
        let received = task.received
        let requested =
            task.isFromCache ? NativeEntry.date(of: task.received.fields, at: cache.time.now) : task.sent
        let context = SynchronizerError.Context(
            url: head.url, trace: trace, head: head, body: received.body, requested: requested)
        // A part is a success only if the caller requested a range.
        let isComplete = received.status != 206 || task.current.value(forHTTPHeaderField: FieldName.range) != nil
        if !(200..<300).contains(received.status) || !isComplete, let response = head.httpResponse {
            return .failure(.status(response, context))
        }
        var trace = trace
        var freshUntil = Date.distantPast
        if let stored = storedResponse(of: task) {
            freshUntil = cache.rules.expiration(of: stored, at: cache.time.now)
            trace.describe(cache.rules.freshness(of: stored, at: cache.time.now))
        }
        var fetched = Fetched(body: received.body, response: head, freshUntil: freshUntil, trace: trace)
        fetched.file = task.file
        fetched.order.requested = requested
        fetched.isForThisLoadOnly = isBound(head, of: task) || task.isAuthorized
        fetched.limit(by: task.redirectLifetime)
        return .success(fetched)
    }

    /// The response as the session stores it, with what its delegate injects; nil if the time of its arrival is not known.
    private func storedResponse(of task: NativeTask) -> StoredResponse? {
        guard let url = task.current.url, task.received.head?.isHTTP == true else { return nil }
        var fields = task.received.fields
        let injection = context.injection.with(cacheTime: options.cacheTime)
        let injected = task.header?.injected ?? injection.value(forStatus: task.received.status, fields: fields)
        if let injected { fields[FieldName.cacheControl] = injected }
        // The session never stores the response to a POST, but memory keeps its object if the rules allow storing the response.
        if let request = task.cacheRequest, request.isReusable,
            CacheRules.objection(toStoring: task.received.status, fields: fields, answering: request) != nil
        {
            return nil
        }
        let stored = task.isFromCache ? NativeEntry.date(of: fields, at: cache.time.now) : nil
        guard stored != .distantPast else { return nil }
        return StoredResponse(
            url: CacheRules.cacheKey(of: url.absoluteString), method: "GET", selectingFields: HTTPFields(),
            status: task.received.status, fields: fields, requestTime: stored ?? task.sent,
            responseTime: stored ?? task.received.time, injectedCacheControl: injected)
    }

    // MARK: - What the session stores

    /// The response with its binding header; nil if it must not be stored, because it was invalidated while it was in flight,
    /// or because the session obtained it with a credential that later requests do not show.
    func bound(_ proposed: CachedURLResponse, of task: NativeTask) -> CachedURLResponse? {
        guard let head = proposed.response as? HTTPURLResponse, let url = task.current.url,
            let request = task.cacheRequest
        else { return proposed }
        guard !task.isAuthorized, !cache.invalidations.isInvalid(request.url, since: task.mark) else { return nil }
        // A response that a 304 confirmed has a header already.
        var (old, fields) = CacheBindingHeader.split(HTTPFields(of: head))
        let kept = old?.injected.flatMap { fields[FieldName.cacheControl] == $0 ? $0 : nil }
        let injected = proposed.userInfo?[InjectionMark.userInfoKey] as? String ?? kept
        let header = CacheBindingHeader(request, fields: fields, injected: injected)
        fields.add(CacheBindingHeader.fieldName, value: header.value)
        return CachedURLResponse(
            response: ResponseHead(url: head.url ?? url, status: head.statusCode, fields: fields).urlResponse,
            data: proposed.data, userInfo: proposed.userInfo, storagePolicy: proposed.storagePolicy)
    }
}
