// Whether the response to one request can answer others that are made at the same time.
extension CacheRules {
    /// The key of the requests that can wait for the response to this one instead of asking the server, too; nil if its
    /// response will answer no other. The decision is what the cache decided about the request.
    ///
    /// Requests with the same key have the same URL, method, body, credentials, and values of the fields that the server is
    /// known, or likely, to select by. If it selects by others, waiting was in vain, and no response is used wrongly: whether
    /// a response answers a request is decided when it is looked up.
    package static func sharingKey(
        of request: CacheRequest, decision: CacheDecision, among candidates: [Candidate]
    ) -> String? {
        guard decision.leadsToSharedResponse, request.method == "GET" || request.isReusable else { return nil }
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
    /// Whether the network is needed for a response that would answer the same request again, if the server allows it.
    fileprivate var leadsToSharedResponse: Bool {
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
    /// Whether a response was fresh for a while and is not any more. One that is never fresh is validated for each use.
    fileprivate var isExpiry: Bool {
        switch self {
        case .stale(let freshness), .staleAllowed(let freshness, _): freshness.lifetime > 0
        default: false
        }
    }
}
