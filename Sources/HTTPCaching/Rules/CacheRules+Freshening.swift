/// What a 304 means for the stored responses (RFC 9111 §4.3.4).
package enum Confirmation: Hashable, Sendable {
    /// The server has confirmed the selected response, which is the answer. The candidates at these positions must be
    /// updated; the selected response is among them if the 304 identifies it.
    case update([Int])
    /// The 304 is about a representation other than the one whose validators were sent: send the request again without
    /// conditions.
    case mismatch
}

// How a newer message changes stored responses: a 304 (RFC 9111 §4.3.4) or the response to a `HEAD` (§4.3.5).
extension CacheRules {
    /// Which candidates a 304 confirms (§4.3.4).
    /// - Parameter asked: the position of the candidate whose validators were sent.
    package static func confirmation(
        by fields: HTTPFields, asked: Int, among candidates: [Candidate], for request: CacheRequest
    ) -> Confirmation {
        let received = ResponseFacts(fields)
        let stored = candidates.map { ResponseFacts($0.response.fields) }
        let hasSameDate = received.lastModified == stored[asked].lastModified
        guard let tag = received.entityTag.flatMap(EntityTag.init) else {
            // A 304 without a validator can only be about the response whose validators were sent.
            return .update(received.lastModified == nil || hasSameDate ? [asked] : [])
        }
        if let askedTag = stored[asked].entityTag.flatMap(EntityTag.init), !askedTag.matchesWeakly(tag) {
            return .mismatch
        }
        guard tag.isStrong else { return .update(stored[asked].entityTag != nil || hasSameDate ? [asked] : []) }
        let selectable = candidates.indices.filter { couldBeConfirmed(candidates[$0].response, by: request) }
        return .update(
            selectable.filter { isIdentified(candidates[$0].response, facts: stored[$0], by: tag, received: received) })
    }

    /// Whether a 304 with a strong entity tag shares a strong validator with the stored response: the tag, or the
    /// modification date unless the tags differ.
    private static func isIdentified(
        _ response: StoredResponse, facts stored: ResponseFacts, by tag: EntityTag, received: ResponseFacts
    ) -> Bool {
        if let storedTag = stored.entityTag.flatMap(EntityTag.init) {
            if storedTag.matchesStrongly(tag) { return true }
            guard storedTag.matchesWeakly(tag) else { return false }
        }
        return received.lastModified == stored.lastModified && response.hasStrongDate(stored)
    }

    /// Which candidates a 304 to the caller's own conditional request confirms (§4.3.4): all that have its strong entity tag; or
    /// else the most recent that has its weak entity tag or its `Last-Modified`.
    package static func candidates(
        confirmedBy fields: HTTPFields, among candidates: [Candidate], for request: CacheRequest
    ) -> [Int] {
        let selectable = candidates.indices.filter { couldBeConfirmed(candidates[$0].response, by: request) }
        let received = ResponseFacts(fields)
        if let tag = received.entityTag.flatMap(EntityTag.init) {
            let tagged = selectable.filter { index in
                let stored = ResponseFacts(candidates[index].response.fields).entityTag.flatMap(EntityTag.init)
                return stored.map { tag.isStrong ? $0.matchesStrongly(tag) : $0.matchesWeakly(tag) } ?? false
            }
            return tag.isStrong ? tagged : mostRecent(of: tagged, among: candidates)
        }
        guard let modified = received.lastModified else { return [] }
        return mostRecent(
            of: selectable.filter { ResponseFacts(candidates[$0].response.fields).lastModified == modified },
            among: candidates)
    }

    private static func mostRecent(of indices: [Int], among candidates: [Candidate]) -> [Int] {
        indices.max { candidates[$0].response.responseTime < candidates[$1].response.responseTime }.map { [$0] } ?? []
    }

    /// Whether a stored response would be selected for a request if it were fresh.
    private static func couldAnswer(_ request: CacheRequest, with response: StoredResponse) -> Bool {
        response.url == request.url && response.method == (request.isRetrieval ? request.method : "GET")
            && selects(response, for: request)
    }

    /// Whether a 304 to the request may be about a stored response. A 304 says that the status would have been 200
    /// (RFC 9110 §15.4.5), so it is not about a stored 404.
    private static func couldBeConfirmed(_ response: StoredResponse, by request: CacheRequest) -> Bool {
        response.isRepresentation && couldAnswer(request, with: response)
    }

    /// Whether a 200 to a `HEAD` updates a stored response (§4.3.5): false if it invalidates the response, nil if the request
    /// does not select the response. A stored 404 or 301 is not what the server would send now.
    package static func headUpdates(
        _ candidate: Candidate, by fields: HTTPFields, for request: CacheRequest
    ) -> Bool? {
        guard couldAnswer(request, with: candidate.response) else { return nil }
        guard candidate.response.isRepresentation else { return false }
        let stored = candidate.response.fields
        for name in [FieldName.entityTag, FieldName.lastModified] {
            if let received = fields[name], received != stored[name] { return false }
        }
        guard let length = fields[FieldName.contentLength], let storedLength = candidate.response.statedLength else {
            return true
        }
        return length == storedLength
    }

    /// The stored response with the fields of a newer message (§3.2). The fields that describe the stored body (length, coding,
    /// range) stay, because the body stays.
    package static func freshened(
        _ response: StoredResponse, by newer: HTTPFields, requestTime: Date, responseTime: Date
    ) -> StoredResponse {
        var newer = newer
        newer.remove(excluded(from: newer) + FieldName.describingBody)
        if !newer.contains(FieldName.date) { newer.add(FieldName.date, value: HTTPDate.format(responseTime)) }
        var freshened = response
        freshened.fields = response.serverFields
        freshened.injectedCacheControl = nil
        // The stored `Age` is the age of the older message.
        freshened.fields.remove(FieldName.age)
        freshened.fields.replace(with: newer)
        // §5.2.2.4: the newer `Cache-Control` may name fields that were stored before.
        freshened.fields.remove(removable(CacheControl(freshened.fields).noCacheFields))
        freshened.requestTime = requestTime
        freshened.responseTime = responseTime
        return freshened
    }
}

extension StoredResponse {
    /// Whether the response is a representation of its target or a part of one, as conditions and `HEAD` presuppose
    /// (RFC 9110 §13, §15.4.5).
    var isRepresentation: Bool { status == 200 || status == 206 }

    /// Whether newer fields still allow the response to be stored (RFC 9111 §3, §4.1).
    package var mayStayStored: Bool { facts.flags.isDisjoint(with: [.isForbidden, .variesOnEverything]) }

    /// The length of the whole representation, as the server stated it; nil if it is not known.
    fileprivate var statedLength: String? {
        guard let part else { return fields[FieldName.contentLength] }
        return part.completeLength.map(String.init)
    }

    /// Whether `Last-Modified` is a strong validator: the response was generated at least a second later (RFC 9110 §8.8.2.2).
    func hasStrongDate(_ facts: ResponseFacts) -> Bool {
        guard let modified = facts.date(FieldName.lastModified, at: responseTime),
            let date = facts.date(at: responseTime)
        else { return false }
        return date.timeIntervalSince(modified) >= 1
    }

    /// The fields that the server sent, without an injected `Cache-Control`.
    package var serverFields: HTTPFields {
        guard injectedCacheControl != nil else { return fields }
        var fields = fields
        fields.remove(FieldName.cacheControl)
        return fields
    }
}
