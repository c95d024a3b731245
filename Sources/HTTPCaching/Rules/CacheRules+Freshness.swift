/// How old a stored response is at a moment, and how old it may get (RFC 9111 §4.2). In seconds.
package struct Freshness: Hashable, Sendable {
    package let age: TimeInterval
    package let lifetime: TimeInterval
    package let rule: LifetimeRule

    package init(age: TimeInterval, lifetime: TimeInterval, rule: LifetimeRule) {
        self.age = age
        self.lifetime = lifetime
        self.rule = rule
    }

    /// §4.2: a response is fresh while its lifetime is greater than its age.
    package var isFresh: Bool { lifetime > age }
    /// How long it has been stale; negative while it is fresh.
    package var staleness: TimeInterval { age - lifetime }
}

/// What gave a response its lifetime (RFC 9111 §4.2.1, §4.2.2).
package enum LifetimeRule: String, Hashable, Sendable {
    case maxAge = "max-age"
    case expires = "Expires"
    case heuristic = "heuristic"
    /// The `max-age` that the session's delegate put in.
    case injected = "injected max-age"
    /// Nothing: the response carries no lifetime, and none is guessed.
    case none = "no lifetime"
}

extension Freshness {
    /// The freshness of a stored response at a moment.
    package init(of response: StoredResponse, rules: CacheRules, at now: Date) {
        self.init(of: response, ResponseFacts(response.fields), rules: rules, at: now)
    }

    init(of response: StoredResponse, _ facts: ResponseFacts, rules: CacheRules, at now: Date) {
        let date = facts.date.flatMap { HTTPDate.parse($0, at: response.responseTime) }
        let (lifetime, rule) = Self.lifetime(of: response, facts, generated: date ?? response.responseTime, rules)
        self.init(age: Self.age(of: response, facts, date: date, at: now), lifetime: lifetime, rule: rule)
    }

    /// RFC 9111 §4.2.1: the first that applies. `s-maxage` is for shared caches.
    private static func lifetime(
        of response: StoredResponse, _ facts: ResponseFacts, generated: Date, _ rules: CacheRules
    ) -> (TimeInterval, LifetimeRule) {
        if let maxAge = facts.control.maxAge {
            return (maxAge, response.injectedCacheControl == nil ? .maxAge : .injected)
        }
        if let expires = facts.expires {
            let end = HTTPDate.parse(expires, at: response.responseTime)  // §5.3: invalid means expired
            return (max(0, end?.timeIntervalSince(generated) ?? 0), .expires)
        }
        guard facts.control.contains(.isPublic) || isHeuristicallyCacheable(response.status),
            let lastModified = facts.lastModified.flatMap({ HTTPDate.parse($0, at: response.responseTime) })
        else { return (0, .none) }
        let unchanged = generated.timeIntervalSince(lastModified)
        return (min(max(0, unchanged * rules.heuristicFraction), rules.heuristicLimit), .heuristic)
    }

    /// RFC 9111 §4.2.3. A clock that was set back behind the response's arrival leaves the age unknown: that is more
    /// than any lifetime. Steps of a minute, as clocks are adjusted, are let pass.
    private static func age(
        of response: StoredResponse, _ facts: ResponseFacts, date: Date?, at now: Date
    ) -> TimeInterval {
        let residentTime = now.timeIntervalSince(response.responseTime)
        guard residentTime > -60 else { return .infinity }
        let apparentAge = date.map { max(0, response.responseTime.timeIntervalSince($0)) } ?? 0
        let responseDelay = max(0, response.responseTime.timeIntervalSince(response.requestTime))
        let ageValue = facts.age.flatMap(ageValue) ?? 0
        return max(apparentAge, ageValue + responseDelay) + max(0, residentTime)
    }

    /// RFC 9111 §5.1: of a list the first member counts, and what is no number is ignored.
    private static func ageValue(_ text: String) -> TimeInterval? {
        text.scan { scanner in
            scanner.skipWhitespace()
            let seconds = scanner.deltaSeconds()
            scanner.skipWhitespace()
            return scanner.isAtEnd || scanner.next == UInt8(ascii: ",") ? seconds : nil
        }
    }
}

extension TimeInterval {
    /// As the whole number that `Age` takes (RFC 9111 §5.1): never negative, at most 2³¹.
    package var wholeSeconds: Int {
        isNaN ? 0 : Int(exactly: min(max(0, self), CacheControl.longestLifetime - 1).rounded(.down)) ?? 0
    }
}
