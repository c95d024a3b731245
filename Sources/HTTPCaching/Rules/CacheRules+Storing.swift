/// What may be kept of a response (RFC 9111 §3), and why not.
package enum Storing {
    /// Why a complete response is not to be stored; nil if it may be.
    package static func objection(
        to status: Int, _ fields: HTTPFields, answering request: CacheRequest
    ) -> Objection? {
        let facts = ResponseFacts(fields)
        guard answersGET(request, fields, facts) else { return .method }
        guard status >= 200, status != 304 else { return .status }
        guard !RequestFacts(request).control.contains(.noStore) else { return .requestNoStore }
        guard !facts.forbidsStoring(status: status) else { return .noStore }
        guard !facts.variesOnEverything else { return .variesOnEverything }
        guard status != 206 || part(of: fields) != nil else { return .status }
        return isMarkedCacheable(status, facts) ? nil : .notCacheable
    }

    package enum Objection: String, Hashable, Sendable {
        case method = "the method's answers are not stored"
        case status = "the status is not one that is stored"
        case requestNoStore = "the request says no-store"
        case noStore = "the response says no-store"
        /// Nothing would ever match it (§4.1).
        case variesOnEverything = "the response varies on everything"
        case notCacheable = "nothing in the response makes it cacheable"
    }

    /// `GET`; and `POST` with a lifetime of its own, where the answer says by its `Content-Location` that it is what a
    /// `GET` would have brought (RFC 9110 §9.3.3).
    private static func answersGET(_ request: CacheRequest, _ fields: HTTPFields, _ facts: ResponseFacts) -> Bool {
        if request.method == "GET" { return true }
        guard request.method == "POST", facts.control.maxAge != nil || facts.expires != nil,
            let location = fields.reference("Content-Location"), let target = resolve(location, against: request.url)
        else { return false }
        return cacheKey(of: target) == request.url
    }

    /// §3: the last of its conditions, as far as it concerns a private cache.
    private static func isMarkedCacheable(_ status: Int, _ facts: ResponseFacts) -> Bool {
        facts.control.contains(.isPublic) || facts.control.contains(.isPrivate) || facts.expires != nil
            || facts.control.maxAge != nil || isHeuristicallyCacheable(status)
    }

    /// The part that a 206 says it holds; nil if it holds several, or does not say which (§3.3).
    package static func part(of fields: HTTPFields) -> StoredResponse.Part? {
        fields["Content-Range"].flatMap(StoredResponse.Part.init(contentRange:))
    }

    /// The part to store of a 206 with that many bytes of body; nil if it is not to be stored.
    ///
    /// Where `Content-Range` counts other bytes than have come, and `Content-Length` bears the bytes out, the range
    /// begins where it says and ends where the body does; so does the representation, if the range was said to reach
    /// its end. Such a part is never combined with another.
    package static func part(of fields: HTTPFields, bodySize: Int) -> StoredResponse.Part? {
        guard let said = part(of: fields), said.range.count != bodySize else { return part(of: fields) }
        guard bodySize > 0, fields["Content-Length"] == String(bodySize) else { return nil }
        let (end, overflow) = said.range.lowerBound.addingReportingOverflow(bodySize)
        guard !overflow else { return nil }
        let reachesEnd = said.range.upperBound == said.completeLength
        return .init(range: said.range.lowerBound..<end, completeLength: reachesEnd ? end : nil)
    }

    /// The fields to keep (§3.1): all but those that are about the connection or a proxy, and those that `no-cache="…"`
    /// names. A response without `Date` gets the time of its arrival (RFC 9110 §6.6.1).
    package static func storedFields(of fields: HTTPFields, receivedAt arrival: Date) -> HTTPFields {
        var stored = fields
        stored.remove(excluded(from: fields))
        if !stored.contains("Date") { stored.add("Date", HTTPDate.format(arrival)) }
        return stored
    }

    static func excluded(from fields: HTTPFields) -> [String] {
        let named = fields.values(of: "Connection").flatMap(\.listedTokens)
        return hopByHop + named + CacheControl(fields).noCacheFields
    }

    private static let hopByHop = [
        "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
    ]
}

/// A URI reference made absolute (RFC 3986 §5.2); nil if it is malformed.
package func resolve(_ reference: String, against base: String) -> String? {
    guard let base = URL(string: base) else { return nil }
    return URL(string: reference, relativeTo: base)?.absoluteURL.absoluteString
}
