extension CacheRules {
    /// What to do about a request at a moment, given what is stored for its URI, newest first (RFC 9111 §4).
    package func verdict(for request: CacheRequest, among stored: [Candidate], at now: Date) -> Verdict {
        Judge(request: request, directives: RequestFacts(request), rules: self, now: now).verdict(among: stored)
    }
}

/// Judges one request.
struct Judge {
    let request: CacheRequest
    let directives: RequestFacts
    let rules: CacheRules
    let now: Date

    func verdict(among candidates: [Candidate]) -> Verdict {
        if let reason = reasonToBypass { return outbound(reason) }
        guard let chosen = chosen(among: candidates) else {
            return completion(of: candidates) ?? outbound(candidates.isEmpty ? .nothingStored : .nothingMatches)
        }
        let response = candidates[chosen.index].response
        let freshness = Freshness(of: response, chosen.facts, rules: rules, at: now)
        let selection = Selection(
            index: chosen.index, freshness: freshness, answer: chosen.answer, explanation: .fresh(freshness))
        return verdict(on: selection, response, chosen.facts)
    }

    /// Whether the network is not to be used, whatever is stored.
    var mayUseNetwork: Bool {
        request.policy != .returnCacheDontLoad && !directives.control.contains(.onlyIfCached)
    }

    /// Why what is stored does not matter.
    private var reasonToBypass: Explanation? {
        guard request.method == "GET" || request.method == "HEAD" else { return .method }
        switch request.policy {
        case .reloadIgnoringLocal, .reloadIgnoringLocalAndRemote: return .policy(request.policy)
        case .returnCacheElseLoad, .returnCacheDontLoad: return directives.asksTheOrigin ? .requestForbidsStored : nil
        case .useProtocol, .reloadRevalidating:
            let forbids = directives.asksTheOrigin || directives.control.contains(.noStore)
            return forbids ? .requestForbidsStored : nil
        }
    }

    func outbound(_ reason: Explanation, fallback: Selection? = nil) -> Verdict {
        mayUseNetwork ? .forward(directiveFields, fallback: fallback, reason) : .refuse(reason)
    }

    /// What caches on the way are told of the policy, unless the caller tells them something itself.
    var directiveFields: HTTPFields {
        guard !request.fields.contains("Cache-Control") else { return HTTPFields() }
        switch request.policy {
        case .reloadIgnoringLocalAndRemote: return HTTPFields([("Cache-Control", "no-cache"), ("Pragma", "no-cache")])
        case .reloadRevalidating: return HTTPFields([("Cache-Control", "max-age=0")])
        default: return HTTPFields()
        }
    }

    private func verdict(on selection: Selection, _ response: StoredResponse, _ facts: ResponseFacts) -> Verdict {
        var selection = selection
        if request.policy == .returnCacheElseLoad || request.policy == .returnCacheDontLoad {
            selection.explanation = .policy(request.policy)
            return reuse(selection, response, facts)
        }
        if let demand = demandForValidation(selection.freshness, facts) {
            selection.explanation = .mustBeValidated(selection.freshness, demand)
            return validation(of: selection, facts)
        }
        if selection.freshness.isFresh { return reuse(selection, response, facts) }
        if let permission = permissionForStale(selection.freshness, facts) {
            selection.explanation = .staleAllowed(selection.freshness, permission)
            guard permission == .staleWhileRevalidate, mayUseNetwork else { return reuse(selection, response, facts) }
            return reuseWhileRevalidating(selection, response, facts)
        }
        selection.explanation = .stale(selection.freshness)
        return validation(of: selection, facts)
    }

    /// Why the response is not to be used without validation, fresh or not (§4, §5.2.1, §5.2.2.4).
    func demandForValidation(_ freshness: Freshness, _ facts: ResponseFacts) -> Explanation.Demand? {
        if facts.mustBeValidated { return .responseNoCache }
        if directives.asksForValidation { return .requestNoCache }
        if request.policy == .reloadRevalidating {
            // RFC 8246 §2: while it is fresh an immutable response is not to be asked about.
            return facts.control.contains(.immutable) && freshness.isFresh ? nil : .policy
        }
        if let limit = directives.control.maxAge, freshness.age > limit || (limit == 0 && !freshness.isFresh) {
            return directives.control.maxStale == nil || freshness.isFresh ? .requestMaxAge : nil
        }
        if let least = directives.control.minFresh, -freshness.staleness < least { return .requestMinFresh }
        return nil
    }

    /// What lets a stale response be used before the server has answered (§4.2.4). A caller that limits the age, or
    /// asks for freshness to be left, wants no stale response unless it says so.
    private func permissionForStale(_ freshness: Freshness, _ facts: ResponseFacts) -> Explanation.Permission? {
        guard !facts.mustNotBeStale, freshness.age < .infinity else { return nil }
        if let limit = directives.control.maxStale, freshness.staleness <= limit { return .maxStale }
        guard directives.control.maxAge == nil, directives.control.minFresh == nil else { return nil }
        let window = facts.control.staleWhileRevalidate ?? rules.staleWhileRevalidate
        return window > 0 && freshness.staleness <= window ? .staleWhileRevalidate : nil
    }
}
