/// How a newer message changes stored responses: a 304 (RFC 9111 §4.3.4), the answer to a `HEAD` (§4.3.5).
package enum Freshening {
    /// What a 304 means for the responses that could have answered the request.
    package enum Outcome: Hashable, Sendable {
        /// The selected response is the answer, for the server has confirmed it; the candidates at these places are to be
        /// updated, which it is among if the 304 identifies it.
        case update([Int])
        /// The 304 is about another representation than the one that was asked about: the request is to be sent again
        /// without conditions.
        case mismatch
    }

    /// Which candidates a 304 is about (§4.3.4).
    /// - Parameter asked: the place of the candidate whose validators were sent.
    package static func outcome(
        of fields: HTTPFields, asked: Int, among candidates: [Candidate], for request: CacheRequest
    ) -> Outcome {
        let received = ResponseFacts(fields)
        let stored = candidates.map { ResponseFacts($0.response.fields) }
        let hasSameDate = received.lastModified == stored[asked].lastModified
        guard let tag = received.entityTag.flatMap(EntityTag.init) else {
            // Without a validator it can only be about the one response whose validators were sent.
            return .update(received.lastModified == nil || hasSameDate ? [asked] : [])
        }
        if let askedTag = stored[asked].entityTag.flatMap(EntityTag.init), !askedTag.matchesWeakly(tag) {
            return .mismatch
        }
        guard tag.isStrong else { return .update(stored[asked].entityTag != nil || hasSameDate ? [asked] : []) }
        let selectable = candidates.indices.filter { couldAnswer(request, candidates[$0].response) }
        return .update(selectable.filter { isIdentified(candidates[$0].response, stored[$0], by: tag, received) })
    }

    /// Whether a 304 with a strong entity tag has a strong validator of the stored response: its tag, or its
    /// modification date, unless the two have tags that differ.
    private static func isIdentified(
        _ response: StoredResponse, _ stored: ResponseFacts, by tag: EntityTag, _ received: ResponseFacts
    ) -> Bool {
        if let storedTag = stored.entityTag.flatMap(EntityTag.init) {
            if storedTag.matchesStrongly(tag) { return true }
            guard storedTag.matchesWeakly(tag) else { return false }
        }
        return received.lastModified == stored.lastModified && response.hasStrongDate(stored)
    }

    /// Which candidates a 304 to a caller's own conditional request is about (§4.3.4): by strong validator all that
    /// have it, by a weak one the most recent.
    package static func candidates(
        namedBy fields: HTTPFields, among candidates: [Candidate], for request: CacheRequest
    ) -> [Int] {
        let selectable = candidates.indices.filter { couldAnswer(request, candidates[$0].response) }
        let received = ResponseFacts(fields)
        if let tag = received.entityTag.flatMap(EntityTag.init) {
            let tagged = selectable.filter { index in
                let stored = ResponseFacts(candidates[index].response.fields).entityTag.flatMap(EntityTag.init)
                return stored.map { tag.isStrong ? $0.matchesStrongly(tag) : $0.matchesWeakly(tag) } ?? false
            }
            return tag.isStrong ? tagged : mostRecent(of: tagged, candidates)
        }
        guard let modified = received.lastModified else { return [] }
        return mostRecent(
            of: selectable.filter { ResponseFacts(candidates[$0].response.fields).lastModified == modified }, candidates
        )
    }

    private static func mostRecent(of indices: [Int], _ candidates: [Candidate]) -> [Int] {
        indices.max { candidates[$0].response.responseTime < candidates[$1].response.responseTime }.map { [$0] } ?? []
    }

    /// Whether a stored response could be selected for a request, were it fresh.
    private static func couldAnswer(_ request: CacheRequest, _ response: StoredResponse) -> Bool {
        response.url == request.url && response.method == "GET"
            && SelectingFields.match(request, response, ResponseFacts(response.fields), siblingVary: [])
    }

    /// What a 200 to a `HEAD` does to a stored response (§4.3.5): true if it updates it, false if it makes it invalid,
    /// nil if it does not concern it.
    package static func headUpdates(
        _ candidate: Candidate, by fields: HTTPFields, for request: CacheRequest
    ) -> Bool? {
        guard couldAnswer(request, candidate.response) else { return nil }
        let stored = candidate.response.fields
        for name in ["ETag", "Last-Modified"] {
            if let received = fields[name], received != stored[name] { return false }
        }
        guard let length = fields["Content-Length"], let storedLength = stored["Content-Length"] else { return true }
        return length == storedLength
    }

    /// The stored response with the fields of a newer message (§3.2). Its body stays, and so does what describes the
    /// body as it is kept: length, coding, range.
    package static func freshened(
        _ response: StoredResponse, by newer: HTTPFields, requestTime: Date, responseTime: Date
    ) -> StoredResponse {
        var newer = newer
        newer.remove(Storing.excluded(from: newer) + ["Content-Length", "Content-Encoding", "Content-Range"])
        if !newer.contains("Date") { newer.add("Date", HTTPDate.format(responseTime)) }
        var freshened = response
        freshened.fields = response.serverFields
        freshened.injectedCacheControl = nil
        // An age says how old the message is that it came with; this one is newer.
        freshened.fields.remove("Age")
        freshened.fields.replace(with: newer)
        freshened.requestTime = requestTime
        freshened.responseTime = responseTime
        return freshened
    }
}

extension StoredResponse {
    /// Whether `Last-Modified` is a strong validator: nothing can have changed within the same second after it (RFC 9110
    /// §8.8.2.2).
    func hasStrongDate(_ facts: ResponseFacts) -> Bool {
        guard let modified = facts.lastModified.flatMap({ HTTPDate.parse($0, at: responseTime) }),
            let date = facts.date.flatMap({ HTTPDate.parse($0, at: responseTime) })
        else { return false }
        return date.timeIntervalSince(modified) >= 1
    }

    /// The fields as the server sent them: without an injected `Cache-Control`.
    package var serverFields: HTTPFields {
        guard injectedCacheControl != nil else { return fields }
        var fields = fields
        fields.remove("Cache-Control")
        return fields
    }
}
