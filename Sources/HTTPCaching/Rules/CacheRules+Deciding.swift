extension CacheRules {
    /// Decides what to do about a request, given the responses stored for its URI, newest first (RFC 9111 §4).
    package func decision(for request: CacheRequest, among stored: [Candidate], at now: Date) -> CacheDecision {
        CacheDecisionMaker(request: request, directives: RequestFacts(request), rules: self, now: now)
            .decision(among: stored)
    }
}
