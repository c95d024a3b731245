/// How the lifetime of a response without an explicit one is estimated (RFC 9111 §4.2.2).
package struct HeuristicLifetime: Hashable, Sendable {
    /// The lifetime as a fraction of the time from `Last-Modified` to the generation of the response.
    package var fraction = 0.1
    /// The longest lifetime, in seconds.
    package var limit: Double = 7 * 86_400
}

extension CacheRules {
    /// The freshness of a stored response at a time.
    package func freshness(of response: StoredResponse, at now: Date) -> Freshness {
        let facts = response.facts
        let estimate = min(facts.period * heuristic.fraction, heuristic.limit)
        return Freshness(
            age: Self.age(of: response, facts: facts, at: now),
            lifetime: facts.rule == .heuristic ? estimate : facts.period, rule: facts.rule)
    }

    /// RFC 9111 §4.2.3. If the clock was set back to before the response arrived, the age is unknown, and counts as infinite, which
    /// exceeds any lifetime. A clock that is up to a minute behind is tolerated.
    private static func age(of response: StoredResponse, facts: StoredFacts, at now: Date) -> TimeInterval {
        let residentTime = now.timeIntervalSince(response.responseTime)
        guard residentTime > -60 else { return .infinity }
        return facts.initialAge + max(0, residentTime)
    }
}
