import Foundation
import HTTPCaching

/// The answer that a step leads to: a response and its body.
struct Answer: Sendable {
    var step: FetchStep
    let head: ResponseHead
    let body: Data
    /// The body if it is in a file; then `body` is empty.
    var file: BodyFile?
    /// Whether the body was dropped, because it is too large for an error.
    var isBodyDropped = false
    /// The entry of the store that has the body.
    var entry: Int64?
    /// See ``Fetched/storedChecksum``.
    var storedChecksum: UInt64?
    /// The objects that are stored next to the response, if they have not been offered.
    var offer: StoredOffer?
    var freshUntil = Date.distantPast
    /// When the server was asked for the response, or confirmed it.
    let requested: Date
    /// See ``Fetched/isBeingRevalidated``.
    var isBeingRevalidated = false
    /// Whether the trace gets the freshness of the response as it is stored.
    var describesStored = false

    /// The answer after its response was stored; `kept` is nil if it was not.
    func stored(as kept: KeptResponse?, rules: CacheRules, at now: Date) -> Answer {
        guard let kept else { return self }
        var answer = self
        answer.entry = kept.entry
        let (freshness, expiration) = rules.freshnessAndExpiration(of: kept.response, at: now)
        answer.freshUntil = expiration
        if describesStored { answer.step.trace.describe(freshness) }
        return answer
    }

    var context: SynchronizerError.Context {
        .init(url: step.url, trace: step.trace, head: head, body: isBodyDropped ? nil : body, requested: requested)
    }

    /// What the caller gets: only a success is a result.
    var result: Result<Fetched, SynchronizerError> {
        // A part is a success only if the caller requested a range.
        let isComplete = head.status != 206 || step.cacheRequest.fields.contains(FieldName.range)
        guard (200..<300).contains(head.status), isComplete else {
            guard let response = head.httpResponse else {
                return .failure(.transport(URLError.notHTTP, context))
            }
            return .failure(.status(response, context))
        }
        var fetched = Fetched(body: body, response: head, freshUntil: freshUntil, trace: step.trace)
        (fetched.file, fetched.entry, fetched.storedChecksum, fetched.offer) = (file, entry, storedChecksum, offer)
        fetched.isForThisLoadOnly = isBoundToSession
        fetched.order.requested = requested
        fetched.isBeingRevalidated = isBeingRevalidated
        fetched.limit(by: step.redirectLifetime)
        return .success(fetched)
    }

    var isBoundToSession: Bool {
        step.cacheRequest.isBoundToSession(by: head, maySendCookies: step.request.httpShouldHandleCookies)
    }
}

/// A response as it is stored.
struct KeptResponse: Sendable {
    let response: StoredResponse
    /// The identifier of its entry; nil if it is not known.
    let entry: Int64?
    /// Why the store does not keep it; nil if the store keeps it.
    let refusal: ResponseStoring.Reason?
}

extension ResponseStoring {
    /// What became of a response. It is nil if it was invalidated, or came too late.
    init(_ kept: KeptResponse?) {
        guard let kept else {
            self = .notStored(.invalidated)
            return
        }
        self = kept.refusal.map { .notStored($0) } ?? .stored
    }
}
