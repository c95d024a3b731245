import Foundation
import HTTPCaching

// What becomes of a finished task, and what the session is to store of it.
extension NativeFetch {
    func complete(_ task: NativeTask, _ error: (any Error)?) {
        let trace = trace(of: task)
        let reception = task.reception
        let isWhole = error == nil && !reception.isCutShort(method: request.httpMethod ?? "GET")
        guard isWhole, let head = reception.head else {
            return finish(.failure(failure(error ?? URLError(.networkConnectionLost), task, trace)))
        }
        noteInvalidation(task)
        finish(result(task, head, trace))
    }

    /// That nothing is stored is no failure of the network: the session answers so if it must not use it.
    private func failure(_ error: any Error, _ task: NativeTask, _ trace: LoadTrace) -> SynchronizerError {
        let context = SynchronizerError.Context(url: task.hop.url ?? request.url, trace: trace)
        switch (error as? URLError)?.code {
        case .resourceUnavailable?, .cannotLoadFromNetwork?: return .notCached(context)
        default: return .transport(error, context)
        }
    }

    private func trace(of task: NativeTask) -> LoadTrace {
        let (reception, now) = (task.reception, fetcher.time.now)
        var trace = LoadTrace()
        trace.redirects = task.redirects
        if task.isFromCache || task.storedMark != nil {
            trace.bytesSpared = reception.body.count
        } else {
            trace.bytesReceived = reception.body.count
        }
        trace.network = task.network
        guard reception.head != nil else { return trace }
        (trace.source, trace.reason) = task.source
        if !task.isFromCache { trace.status = reception.status }
        trace.timeToFirstByte = reception.responseTime.timeIntervalSince(task.sent)
        trace.transfer = now.timeIntervalSince(reception.responseTime)
        return trace
    }

    /// What an unsafe method has made invalid; and what the session has stored though it was made invalid meanwhile.
    private func noteInvalidation(_ task: NativeTask) {
        guard let url = request.url, let hopURL = task.hop.url else { return }
        let cacheRequest = fetcher.cacheRequest(request, url)
        let keys = Invalidation.keys(after: cacheRequest, status: task.reception.status, task.reception.fields)
        if !keys.isEmpty {
            fetcher.removeStoredSoon(for: keys.compactMap { URL(string: $0) }.map { URLRequest(url: $0) })
            report(.invalidated(keys))
        }
        let key = cacheKey(of: hopURL.absoluteString)
        if fetcher.invalidations.isInvalid(key, since: task.mark) { fetcher.removeSoon(task.hop, key) }
    }

    private func result(
        _ task: NativeTask, _ head: ResponseHead, _ trace: LoadTrace
    ) -> Result<Fetched, SynchronizerError> {
        let reception = task.reception
        let context = SynchronizerError.Context(url: head.url, trace: trace, head: head, body: reception.body)
        if !(200..<300).contains(reception.status), let response = head.httpResponse {
            return .failure(.status(response, context))
        }
        guard !reception.body.isEmpty else { return .failure(.emptyBody(context)) }
        var trace = trace
        var freshUntil = Date.distantPast
        if let stored = keptResponse(task) {
            freshUntil = fetcher.rules.expiration(of: stored, at: fetcher.time.now)
            trace.describe(Freshness(of: stored, rules: fetcher.rules, at: fetcher.time.now))
        }
        var fetched = Fetched(body: reception.body, response: head, freshUntil: freshUntil, trace: trace)
        let isBound = task.cacheRequest?.isBoundToSession(by: head, maySendCookies: task.hop.httpShouldHandleCookies)
        fetched.isForThisLoadOnly = isBound ?? false || task.isAuthorized
        return .success(fetched)
    }

    /// The response as the session keeps it: with what its delegate puts in. Nil if it is not known when it came.
    private func keptResponse(_ task: NativeTask) -> StoredResponse? {
        guard let url = task.hop.url, task.reception.head?.isHTTP == true else { return nil }
        var fields = task.reception.fields
        let injected = task.storedMark?.injected ?? fetcher.injection.value(for: task.reception.status, fields)
        if let injected { fields["Cache-Control"] = injected }
        let stored = task.isFromCache ? NativeFetcher.Stored.generated(fields, at: fetcher.time.now) : nil
        guard stored != .distantPast else { return nil }
        return StoredResponse(
            url: cacheKey(of: url.absoluteString), method: "GET", selectingFields: HTTPFields(),
            status: task.reception.status, fields: fields, requestTime: stored ?? task.sent,
            responseTime: stored ?? task.reception.responseTime, injectedCacheControl: injected)
    }

    // MARK: - What the session is to store

    /// The response with its mark; nil if it must not be stored: since it was made invalid when it was in flight, or
    /// because the session obtained it with a credential, which later requests do not show.
    func marked(_ proposed: CachedURLResponse, _ task: NativeTask) -> CachedURLResponse? {
        guard let head = proposed.response as? HTTPURLResponse, let url = task.hop.url, let request = task.cacheRequest
        else { return proposed }
        guard !task.isAuthorized, !fetcher.invalidations.isInvalid(request.url, since: task.mark) else { return nil }
        // What a 304 has confirmed has the mark that it was stored with.
        var (old, fields) = StoredMark.taken(outOf: HTTPFields(of: head))
        let kept = old?.injected.flatMap { fields["Cache-Control"] == $0 ? $0 : nil }
        let injected = proposed.userInfo?[InjectionMark.userInfoKey] as? String ?? kept
        let mark = StoredMark(request, fields, injected: injected)
        fields.add(StoredMark.fieldName, mark.value)
        return CachedURLResponse(
            response: ResponseHead(url: head.url ?? url, status: head.statusCode, fields: fields).urlResponse,
            data: proposed.data, userInfo: proposed.userInfo, storagePolicy: proposed.storagePolicy)
    }
}

extension NativeTask {
    fileprivate var source: (LoadSource, String) {
        if isFromCache { return (.cache, "URLSession answered out of its cache") }
        if storedMark != nil { return (.revalidated, "URLSession answered out of its cache; the server confirmed it") }
        return (.network, "URLSession answered")
    }
}
