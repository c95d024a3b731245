// Whether the response to one request can answer others that are made at the same time.
extension CacheRules {
    /// The key of a lease. Requests with the same key can wait for the response to one of them instead of all asking the
    /// server. Nil if the response to this request will answer no other request.
    ///
    /// Requests with the same key have the same URL, method, body, credentials, and values of the fields by which the server is
    /// known, or likely, to select. If the server selects by other fields, a request has waited in vain, but gets no wrong
    /// response: after the wait, a lookup decides whether the response answers the request.
    ///
    /// - Parameter decision: what the cache has decided about the request.
    package static func leaseKey(
        of request: CacheRequest, decision: CacheDecision, among candidates: [Candidate]
    ) -> String? {
        guard decision.leadsToReusableResponse, request.method == "GET" || request.isReusable else { return nil }
        let facts = RequestFacts(request)
        guard facts.range == nil, !facts.isConditional, !facts.asksTheOrigin, !facts.asksForValidation,
            !facts.control.contains(.noStore), facts.control.maxAge != 0
        else { return nil }
        let varying = mostRecentVary(of: candidates.map(\.response))
        let selects = { (name: String) in
            isCredential(name) || HTTPFields.same(name, FieldName.bodyKey) || isNegotiation(name)
                || varying.contains { HTTPFields.same($0, name) }
        }
        let names = (request.fields.lines + request.sessionHeaders.lines).map(\.name).filter(selects)
        var key = request.url
        if request.isReusable { key += "\n\(request.method)" }
        for name in Set(names.map { $0.lowercased() }).sorted() {
            guard let value = request.value(of: name) else { continue }
            key += "\n\(name): \(isSecret(name) ? concealed(value, of: name) : normalized(value, of: name))"
        }
        return key
    }

    private static func isNegotiation(_ name: String) -> Bool {
        name.utf8.count >= 6 && HTTPFields.same(String(name.prefix(6)), "accept")
    }
}

extension CacheDecision {
    /// Whether the request goes to the network, and its response may answer the same request again, if the server allows that.
    fileprivate var leadsToReusableResponse: Bool {
        switch self {
        case .reuse, .refuse: false
        case .complete: true
        case .reuseWhileRevalidating(let selection, _), .validate(let selection, _):
            selection.explanation.isExpiry
        case .forward(_, _, let reason):
            reason == .nothingStored || reason == .nothingMatches || reason.isExpiry
        }
    }
}

extension Explanation {
    /// Whether a response was fresh and has become stale. A response that is never fresh is validated for each use.
    fileprivate var isExpiry: Bool {
        switch self {
        case .stale(let freshness), .staleAllowed(let freshness, _): freshness.lifetime > 0
        default: false
        }
    }
}
