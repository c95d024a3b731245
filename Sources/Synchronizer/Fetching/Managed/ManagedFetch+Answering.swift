import Foundation
import HTTPCaching

// The last stage: a stored response becomes the answer, and an answer goes to the caller or leads to the next request.
extension ManagedFetch {
    /// The answer from a stored response; nil if its body is gone.
    func answer(from selection: Selection, of step: FetchStep) -> Answer? {
        let entry = step.entries[selection.index]
        let offer = offer(for: selection, of: step)
        if let offer { report(.offered(offer)) }
        let unread = offer.flatMap { $0.isAccepted ? $0.source : nil }
        guard let body = unread == nil ? bytes(for: selection, of: step) : .data(Data()) else { return nil }
        var step = step
        step.trace.describe(selection, source: selection.isStaleAllowed ? .stale : .cache)
        step.trace.isFromSharedCache = entry.isFromSharedLevel
        var answer = answer(
            step, with: selection, of: entry.response, body: body, freshUntil: freshUntil(selection, of: step))
        answer.entry = entry.storedID
        answer.storedChecksum = body.count == entry.bodySize ? entry.storedChecksum : unread?.checksum
        if let unread { answer.step.trace.bytesSaved = unread.bodySize }
        return answer
    }

    /// The objects that are stored next to a response; nil if they are not wanted, or if the answer is not the whole body from
    /// which they were made.
    func offer(for selection: Selection, of step: FetchStep) -> StoredOffer? {
        let entry = step.entries[selection.index]
        guard options.takesObjects, selection.answer == .stored, step.cacheRequest.method != "HEAD",
            entry.response.status == 200
        else { return nil }
        return cache.offer(of: entry)
    }

    /// The answer from a stored response whose trace is complete.
    func answer(
        _ step: FetchStep, with selection: Selection, of response: StoredResponse, body: StoredBytes,
        offer: StoredOffer? = nil, validated: Bool = false, freshUntil: Date = .distantPast, requested: Date? = nil
    ) -> Answer {
        var step = step
        step.trace.bytesSaved = body.count
        let head = selection.head(of: response, validated: validated)
        return Answer(
            step: step, head: ResponseHead(url: step.url, status: head.status, fields: head.fields), body: body.data,
            file: body.file, offer: offer, freshUntil: freshUntil,
            requested: requested ?? response.requestTime)
    }

    /// As ``body(for:of:)``, but the bytes may be in a file.
    func bytes(for selection: Selection, of step: FetchStep) -> StoredBytes? {
        guard options.file != nil, step.cacheRequest.method != "HEAD", selection.answer != .notModified else {
            return body(for: selection, of: step).map(StoredBytes.data)
        }
        return cache.bytes(of: step.entries[selection.index]).flatMap(selection.bytes)
    }

    /// The bytes of the answer: the whole stored body, a part of it, or none; nil if the body is gone.
    func body(for selection: Selection, of step: FetchStep) -> Data? {
        guard step.cacheRequest.method != "HEAD", selection.answer != .notModified else { return Data() }
        return cache.body(of: step.entries[selection.index]).flatMap(selection.bytes)
    }

    private func freshUntil(_ selection: Selection, of step: FetchStep) -> Date {
        switch selection.explanation {
        case .policy:
            // The policy of this request accepts a response of any age; the policy of the next one may not.
            return cache.rules.expiration(of: step.entries[selection.index].response, at: cache.time.now)
        case .fresh(let freshness): return cache.time.now.addingTimeInterval(-freshness.staleness)
        default: return .distantPast
        }
    }

    /// Gives the caller the answer, or follows its redirect.
    func deliver(_ answer: Answer) {
        release(after: answer)
        let step = answer.step
        switch step.request.redirect(
            status: answer.head.status, location: answer.head.fields.reference(FieldName.location))
        {
        case .none: finish(answer.result)
        case .refuse(let refusal): finish(.failure(.transport(refusal.error, answer.context)))
        case .follow where step.trace.redirects.count >= CacheRules.redirectLimit:
            let error = URLError(
                .httpTooManyRedirects, because: "the server redirected more than \(CacheRules.redirectLimit) times")
            finish(.failure(.transport(error, step.context)))
        case .follow(let target):
            var trace = step.trace
            trace.redirects.append(target.url)
            if case .notStored(let reason)? = trace.storing { trace.unstoredRedirect = reason }
            trace.storing = nil  // it was about the redirect
            report(.redirected(to: target.url))
            var lifetime = step.redirectLifetime
            lifetime.add(answer.head.fields, freshUntil: answer.freshUntil, isBound: answer.isBoundToSession)
            run(.request(step.request.following(target), trace, lifetime))
        }
    }
}

extension Selection {
    fileprivate var isStaleAllowed: Bool {
        switch explanation {
        case .staleAllowed: true
        case .policy(.offline): !freshness.isFresh
        default: false
        }
    }
}
