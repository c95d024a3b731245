import HTTPCaching
import Testing

/// RFC 9111 §4.2.4, RFC 5861: when a stale response may be used.
@Suite("Stale responses")
struct StaleTable {
    static func stored(_ control: String) -> Candidate { .response("Cache-Control: \(control)\nETag: \"1\"") }

    static let validated = "validate 0 If-None-Match"

    static let beforehand = [
        Rule("stale.not-by-default", "4.2.4", [stored("max-age=60")], at: 61, validated, "nothing permits it"),
        Rule(
            "stale.while-revalidate", "RFC 5861 §3", [stored("max-age=60, stale-while-revalidate=30")], at: 90,
            "background 0 If-None-Match", "the response permits it for 30 s"),
        Rule(
            "stale.while-revalidate-over", "RFC 5861 §3", [stored("max-age=60, stale-while-revalidate=30")], at: 91,
            validated, "the 30 s are over"),
        Rule(
            "stale.while-revalidate-must", "5.2.2.2",
            [stored("max-age=60, stale-while-revalidate=30, must-revalidate")], at: 70, validated,
            "must-revalidate prohibits it"),
        Rule(
            "stale.while-revalidate-no-cache", "5.2.2.4", [stored("no-cache, stale-while-revalidate=30")], at: 1,
            validated, "no-cache prohibits it"),
        Rule(
            "stale.while-revalidate-invalid", "RFC 5861 §3", [stored("max-age=60, stale-while-revalidate=x")], at: 61,
            validated, "what cannot be read permits nothing"),
        Rule(
            "stale.while-revalidate-max-age", "5.2.1.1", .get("Cache-Control: max-age=600"),
            [stored("max-age=60, stale-while-revalidate=30")], at: 70, validated,
            "a caller that says max-age wants no stale response"),
        Rule(
            "stale.while-revalidate-only-if-cached", "5.2.1.7", .get("Cache-Control: only-if-cached"),
            [stored("max-age=60, stale-while-revalidate=30")], at: 70, "reuse 0",
            "it may be used, and the network not be asked"),
        Rule(
            "stale.max-stale", "5.2.1.2", .get("Cache-Control: max-stale=30"), [stored("max-age=60")], at: 90,
            "reuse 0", "the caller accepts 30 s"),
        Rule(
            "stale.max-stale-over", "5.2.1.2", .get("Cache-Control: max-stale=30"), [stored("max-age=60")], at: 91,
            validated, "and no more"),
        Rule(
            "stale.max-stale-any", "5.2.1.2", .get("Cache-Control: max-stale"), [stored("max-age=60")], at: 1_000_000,
            "reuse 0", "without a value any age is accepted"),
        Rule(
            "stale.max-stale-invalid", "5.2.1.2", .get("Cache-Control: max-stale=x"), [stored("max-age=60")], at: 61,
            validated, "what cannot be read permits nothing"),
        Rule(
            "stale.max-stale-must", "5.2.2.2", .get("Cache-Control: max-stale"),
            [stored("max-age=60, must-revalidate")],
            at: 61, validated, "must-revalidate prohibits it"),
        Rule(
            "stale.max-stale-no-cache", "5.2.2.4", .get("Cache-Control: max-stale"), [stored("max-age=60, no-cache")],
            at: 61, validated, "no-cache prohibits it"),
        Rule(
            "stale.must-revalidate-fresh", "5.2.2.2", [stored("max-age=60, must-revalidate")], at: 59, "reuse 0",
            "while it is fresh must-revalidate says nothing"),
        Rule(
            "stale.proxy-revalidate", "5.2.2.8", .get("Cache-Control: max-stale"),
            [stored("max-age=60, proxy-revalidate, s-maxage=1")], at: 61, "reuse 0",
            "proxy-revalidate and s-maxage are for shared caches"),
        Rule(
            "stale.configured", "4.2.4", [stored("max-age=60")], at: 90, "background 0 If-None-Match",
            "the configuration permits it", rules: relaxed),
        Rule(
            "stale.configured-response-first", "RFC 5861 §3", [stored("max-age=60, stale-while-revalidate=0")], at: 70,
            validated, "the response takes precedence", rules: relaxed),
    ]

    static var relaxed: CacheRules {
        var rules = CacheRules()
        rules.staleWhileRevalidate = 30
        return rules
    }

    @Test("are used before the server has answered as the table says", arguments: beforehand)
    func verdict(_ rule: Rule) { rule.check() }

    /// Whether a response with a lifetime of 60 s serves, so many seconds old, when the server fails.
    struct Case: Sendable, CustomTestStringConvertible {
        let id: String
        let section: String
        var request = CacheRequest.get()
        let control: String
        var age = 100.0
        let failure: ServerFailure
        let serves: Bool
        var windows = (error: 0.0, unreachable: Double.infinity)
        var testDescription: String { "\(id) (\(section))" }
    }

    static let afterwards = [
        Case(id: "failure.disconnected", section: "4.2.4", control: "max-age=60", failure: .unreachable, serves: true),
        Case(
            id: "failure.not-configured", section: "4.2.4", control: "max-age=60", failure: .unreachable, serves: false,
            windows: (0, 0)),
        Case(
            id: "failure.must-revalidate", section: "5.2.2.2", control: "max-age=60, must-revalidate",
            failure: .unreachable, serves: false),
        Case(
            id: "failure.no-cache", section: "5.2.2.4", control: "max-age=60, no-cache", failure: .unreachable,
            serves: false),
        Case(
            id: "failure.request-no-cache", section: "5.2.1.4", request: .get("Cache-Control: no-cache"),
            control: "max-age=60", failure: .unreachable, serves: false),
        Case(
            id: "failure.reload", section: "4.2.4", request: .get(policy: .reloadRevalidating), control: "max-age=60",
            failure: .unreachable, serves: false),
        Case(id: "failure.503", section: "4.3.3", control: "max-age=60", failure: .status(503), serves: false),
        Case(
            id: "failure.503-if-error", section: "RFC 5861 §4", control: "max-age=60, stale-if-error=40",
            failure: .status(503), serves: true),
        Case(
            id: "failure.503-if-error-over", section: "RFC 5861 §4", control: "max-age=60, stale-if-error=39",
            failure: .status(503), serves: false),
        Case(
            id: "failure.disconnected-if-error", section: "RFC 5861 §4", control: "max-age=60, stale-if-error=39",
            failure: .unreachable, serves: false),
        Case(
            id: "failure.request-if-error", section: "RFC 5861 §4", request: .get("Cache-Control: stale-if-error=40"),
            control: "max-age=60", failure: .status(500), serves: true),
        Case(
            id: "failure.if-error-must", section: "5.2.2.2", control: "max-age=60, stale-if-error=40, must-revalidate",
            failure: .status(503), serves: false),
        Case(
            id: "failure.501", section: "RFC 5861 §4", control: "max-age=60, stale-if-error=40", failure: .status(501),
            serves: false),
        Case(
            id: "failure.404", section: "4.3.3", control: "max-age=60, stale-if-error=40", failure: .status(404),
            serves: false),
        Case(
            id: "failure.configured", section: "4.2.4", control: "max-age=60", failure: .status(502), serves: true,
            windows: (40, 0)),
        Case(
            id: "failure.fresh", section: "5.2.1.3", request: .get("Cache-Control: min-fresh=60"),
            control: "max-age=60", age: 30, failure: .unreachable, serves: true),
    ]

    @Test("are used when the server fails as the table says", arguments: afterwards)
    func failure(_ test: Case) {
        var rules = CacheRules()
        (rules.staleIfError, rules.staleIfUnreachable) = test.windows
        let stored = Self.stored(test.control)
        let now = Moment.at(test.age)
        let selection: Selection? =
            switch rules.decision(for: test.request, among: [stored], at: now) {
            case .validate(let selection, _): selection
            case .forward(_, let fallback, _): fallback
            default: nil
            }
        let served = selection.flatMap {
            rules.fallback(to: $0, of: stored.response, for: test.request, after: test.failure, at: now)
        }
        #expect(selection != nil)
        #expect((served != nil) == test.serves, "\(test.testDescription)")
    }
}
