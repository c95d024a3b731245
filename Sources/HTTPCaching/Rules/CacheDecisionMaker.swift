extension CacheRules {
    /// Decides what to do about a request, given the responses stored for its URI, newest first (RFC 9111 §4).
    package func decision(for request: CacheRequest, among stored: [Candidate], at now: Date) -> CacheDecision {
        CacheDecisionMaker(request: request, directives: RequestFacts(request), rules: self, now: now)
            .decision(among: stored)
    }
}

/// Decides about one request. Part of ``CacheRules/decision(for:among:at:)``.
struct CacheDecisionMaker {
    let request: CacheRequest
    let directives: RequestFacts
    let rules: CacheRules
    let now: Date

    func decision(among candidates: [Candidate]) -> CacheDecision {
        if let reason = reasonToBypass { return outbound(reason) }
        guard let chosen = chosen(among: candidates) else {
            return completion(of: candidates) ?? outbound(candidates.isEmpty ? .nothingStored : .nothingMatches)
        }
        let response = candidates[chosen.index].response
        let freshness = rules.freshness(of: response, at: now)
        let selection = Selection(
            index: chosen.index, freshness: freshness, answer: chosen.answer, explanation: .fresh(freshness))
        return decision(on: selection, of: response)
    }

    /// Whether the request allows the network.
    var mayUseNetwork: Bool {
        !request.policy.neverLoads && !directives.control.contains(.onlyIfCached)
    }

    /// Why the stored responses are ignored; nil if they are considered.
    private var reasonToBypass: Explanation? {
        guard request.method == "GET" || request.method == "HEAD" || request.isReusable else { return .method }
        switch request.policy {
        case .reloadIgnoringLocal, .reloadIgnoringLocalAndRemote: return .policy(request.policy)
        case .returnCacheElseLoad, .returnCacheDontLoad, .offline:
            return directives.asksTheOrigin ? .requestConditions : nil
        case .useProtocol, .reloadRevalidating:
            if directives.asksTheOrigin { return .requestConditions }
            return directives.control.contains(.noStore) ? .requestNoStore : nil
        }
    }

    func outbound(_ reason: Explanation, fallback: Selection? = nil) -> CacheDecision {
        mayUseNetwork ? .forward(request.directiveFields, fallback: fallback, reason) : .refuse(reason)
    }

    private func decision(on selection: Selection, of response: StoredResponse) -> CacheDecision {
        let facts = response.facts
        var selection = selection
        if request.policy.acceptsAnyAge {
            selection.explanation = .policy(request.policy)
            return reuse(selection, of: response)
        }
        if let demand = demandForValidation(selection.freshness, facts: facts) {
            selection.explanation = .mustBeValidated(selection.freshness, demand)
            return validation(for: selection, of: response)
        }
        if selection.freshness.isFresh { return reuse(selection, of: response) }
        if let permission = permissionForStale(selection.freshness, facts: facts) {
            selection.explanation = .staleAllowed(selection.freshness, permission)
            guard permission == .staleWhileRevalidate, mayUseNetwork else {
                return reuse(selection, of: response)
            }
            return reuseWhileRevalidating(selection, of: response)
        }
        selection.explanation = .stale(selection.freshness)
        return validation(for: selection, of: response)
    }

    /// Why the response must be validated, fresh or not; nil if it need not be (§4, §5.2.1, §5.2.2.4).
    func demandForValidation(_ freshness: Freshness, facts: StoredFacts) -> Explanation.Demand? {
        if facts.contains(.mustBeValidated) { return .responseNoCache }
        if directives.asksForValidation { return .requestNoCache }
        if request.policy == .reloadRevalidating {
            // RFC 8246 §2: a fresh immutable response is not validated.
            return facts.contains(.isImmutable) && freshness.isFresh ? nil : .policy
        }
        if let limit = directives.control.maxAge, freshness.age > limit || (limit == 0 && !freshness.isFresh),
            !isStaleWithinLimit(freshness) || facts.contains(.mustNotBeStale)
        {
            return .requestMaxAge
        }
        if let least = directives.control.minFresh, -freshness.staleness < least { return .requestMinFresh }
        return nil
    }

    /// Whether `max-stale` permits the response. `max-age` shortens its lifetime (§5.2.1.1, §5.2.1.2).
    private func isStaleWithinLimit(_ freshness: Freshness) -> Bool {
        guard let limit = directives.control.maxStale else { return false }
        let staleness = directives.control.maxAge.map { max(freshness.staleness, freshness.age - $0) }
        return (staleness ?? freshness.staleness) <= limit
    }

    /// What allows the use of a stale response without waiting for the server (§4.2.4); nil if nothing does. A caller that sends
    /// `max-age` or `min-fresh` gets no stale response unless it also sends `max-stale`.
    private func permissionForStale(_ freshness: Freshness, facts: StoredFacts) -> Explanation.Permission? {
        guard !facts.contains(.mustNotBeStale), freshness.age < .infinity else { return nil }
        if isStaleWithinLimit(freshness) { return .maxStale }
        guard directives.control.maxAge == nil, directives.control.minFresh == nil else { return nil }
        let window = facts.staleWhileRevalidate ?? rules.staleWhileRevalidate
        // The validation in the background is a GET, so it can't validate the response to a reusable request.
        return window > 0 && !request.isReusable && freshness.staleness <= window ? .staleWhileRevalidate : nil
    }
}

extension CacheRequest {
    /// The fields that pass the policy on to caches between here and the server, unless the caller sets `Cache-Control`.
    package var directiveFields: HTTPFields {
        guard !fields.contains(FieldName.cacheControl) else { return HTTPFields() }
        switch policy {
        case .reloadIgnoringLocalAndRemote:
            return HTTPFields([(FieldName.cacheControl, "no-cache"), (FieldName.pragma, "no-cache")])
        case .reloadRevalidating: return HTTPFields([(FieldName.cacheControl, "max-age=0")])
        default: return HTTPFields()
        }
    }
}
