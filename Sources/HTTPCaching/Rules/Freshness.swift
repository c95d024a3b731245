/// The age of a stored response and its freshness lifetime, in seconds (RFC 9111 §4.2).
public struct Freshness: Hashable, Sendable {
    /// Seconds since the response was generated or validated (§4.2.3); infinite if the clock was set back since then.
    public let age: TimeInterval
    /// Seconds for which the response is fresh, counted like its age (§4.2.1).
    public let lifetime: TimeInterval
    package let rule: LifetimeRule

    package init(age: TimeInterval, lifetime: TimeInterval, rule: LifetimeRule) {
        self.age = age
        self.lifetime = lifetime
        self.rule = rule
    }

    /// §4.2: a response is fresh while its lifetime is greater than its age.
    public var isFresh: Bool { lifetime > age }
    /// How long it has been stale; negative while it is fresh.
    public var staleness: TimeInterval { age - lifetime }
}

extension Freshness: CustomStringConvertible {
    /// Such as “age 12 s of 3600 s (max-age)”.
    public var description: String {
        age == .infinity
            ? "the clock was set back since it was stored"
            : "age \(age.wholeSeconds) s of \(lifetime.wholeSeconds) s (\(rule.name))"
    }
}

extension TimeInterval {
    /// The whole number of seconds for `Age` (RFC 9111 §5.1): not negative, and at most 2³¹ − 1.
    package var wholeSeconds: Int {
        isNaN ? 0 : Int(exactly: min(max(0, self), .maximumDeltaSeconds - 1).rounded(.down)) ?? 0
    }
}
