/// Why a response is not stored.
package enum StoringObjection: String, Hashable, Sendable {
    case method = "responses to this method are not stored"
    case status = "responses with this status are not stored"
    case requestNoStore = "the request says no-store"
    case noStore = "the response says no-store"
    /// No request would match it (§4.1).
    case variesOnEverything = "the response varies on everything"
    case notCacheable = "nothing in the response makes it cacheable"
}

extension CacheRules {
    /// Why a complete response must not be stored (RFC 9111 §3); nil if it may be.
    package static func objection(
        toStoring status: Int, fields: HTTPFields, answering request: CacheRequest
    ) -> StoringObjection? {
        let facts = ResponseFacts(fields)
        guard request.isReusable || answersGET(request, with: status, fields: fields, facts: facts)
        else { return .method }
        guard status >= 200, status != 304, !answersCondition(status) else { return .status }
        guard !forbidsStoring(request) else { return .requestNoStore }
        guard !facts.forbidsStoring(status: status) else { return .noStore }
        guard !facts.variesOnEverything else { return .variesOnEverything }
        guard status != 206 || (part(of: fields) != nil && !request.isReusable) else { return .status }
        // RFC 9110 §9.3.3: the response to a POST needs an explicit lifetime.
        let needsLifetime = request.isReusable && !request.isRetrieval
        guard !needsLifetime || facts.control.maxAge != nil || facts.hasExpires else { return .notCacheable }
        return isMarkedCacheable(status: status, facts: facts) ? nil : .notCacheable
    }

    /// Whether no part of the response may be stored (RFC 9111 §5.2.1.5).
    package static func forbidsStoring(_ request: CacheRequest) -> Bool {
        RequestFacts(request).control.contains(.noStore)
    }

    /// Whether a status answers a condition or a range of its request (RFC 9110 §15.5.13, §15.5.17). `Vary` does not name these
    /// fields, so such a response would also answer requests without them.
    package static func answersCondition(_ status: Int) -> Bool { status == 412 || status == 416 }

    /// Whether the response can answer a later `GET`: the response to a `GET`; or to a `POST`, if it has an explicit lifetime, and
    /// its status and its `Content-Location` say that it represents the target (RFC 9110 §8.7, §9.3.3).
    private static func answersGET(
        _ request: CacheRequest, with status: Int, fields: HTTPFields, facts: ResponseFacts
    ) -> Bool {
        if request.method == "GET" { return true }
        guard request.method == "POST", (200...203).contains(status), facts.control.maxAge != nil || facts.hasExpires,
            let location = fields.reference(FieldName.contentLocation),
            let target = resolve(location, against: request.url)
        else { return false }
        return cacheKey(of: target.absoluteString) == request.url
    }

    /// The last condition of RFC 9111 §3, as it applies to a private cache.
    private static func isMarkedCacheable(status: Int, facts: ResponseFacts) -> Bool {
        facts.control.contains(.isPublic) || facts.control.contains(.isPrivate) || facts.hasExpires
            || facts.control.maxAge != nil || ResponseFacts.isHeuristicallyCacheable(status)
    }

    /// The part that a 206 contains according to its `Content-Range`; nil if it has no valid one, or several (§3.3).
    package static func part(of fields: HTTPFields) -> StoredResponse.Part? {
        let isMultipart = fields[FieldName.contentType]?.lowercased().hasPrefix("multipart/byteranges")
        return isMultipart == true
            ? nil : fields[FieldName.contentRange].flatMap(StoredResponse.Part.init(contentRange:))
    }

    /// The part to store of a 206 with `bodySize` bytes of body; nil if it must not be stored.
    ///
    /// `Content-Range` may differ from the size of the body, while `Content-Length` equals this size. Then the part starts where
    /// `Content-Range` says and has the size of the body. If the stated range reaches the end of the representation, the part
    /// does too. Such a part is never combined with another.
    package static func part(of fields: HTTPFields, bodySize: Int) -> StoredResponse.Part? {
        guard let stated = part(of: fields), stated.range.count != bodySize else { return part(of: fields) }
        guard bodySize > 0, fields[FieldName.contentLength] == String(bodySize) else { return nil }
        let (end, overflow) = stated.range.lowerBound.addingReportingOverflow(bodySize)
        guard !overflow else { return nil }
        let reachesEnd = stated.range.upperBound == stated.completeLength
        return .init(range: stated.range.lowerBound..<end, completeLength: reachesEnd ? end : nil)
    }

    /// The fields to store (§3.1): all except those that belong to the connection or a proxy, and those that `no-cache="…"` names.
    /// A response without `Date` gets one with the time of its arrival (RFC 9110 §6.6.1).
    package static func storedFields(of fields: HTTPFields, receivedAt arrival: Date) -> HTTPFields {
        var stored = fields
        stored.remove(excluded(from: fields))
        if !stored.contains(FieldName.date) { stored.add(FieldName.date, value: HTTPDate.format(arrival)) }
        return stored
    }

    /// The fields of a stored response as they are passed on at that age (§4): without those that must not be stored.
    package static func reusedFields(of fields: HTTPFields, atAge age: TimeInterval?) -> HTTPFields {
        var reused = fields
        reused.remove(excluded(from: fields))
        if let age { reused[FieldName.age] = String(age.wholeSeconds) }
        return reused
    }

    static func excluded(from fields: HTTPFields) -> [String] {
        let named = fields.values(of: FieldName.connection).flatMap(\.listedTokens)
        return FieldName.hopByHop + removable(named + CacheControl(fields).noCacheFields)
    }

    /// Those of the names that a message may have removed. The fields that decide about reuse stay: without them, the response
    /// would answer more requests, or for longer, than its server allows. A sender must not list them in `Connection`
    /// (RFC 9110 §7.6.1).
    static func removable(_ names: [String]) -> [String] {
        names.filter { name in !FieldName.deciding.contains { HTTPFields.same($0, name) } }
    }
}
