import HTTPCaching
import Testing

/// RFC 9111 §4.3.1 and §4.3.2: conditions that the cache sends, and those of callers.
@Suite("Validation")
struct ValidationTable {
    static let modified = Moment.field(-100_000)
    static let both = Candidate.response("Cache-Control: max-age=60\nETag: \"1\"\nLast-Modified: \(modified)")
    static let tagged = Candidate.response("Cache-Control: max-age=60\nETag: \"1\"")
    static let weak = Candidate.response("Cache-Control: max-age=60\nETag: W/\"1\"")
    static let dated = Candidate.response("Cache-Control: max-age=60\nLast-Modified: \(modified)")

    static let sent = [
        Rule("validate.both", "4.3.1", [both], at: 60, "validate 0 If-Modified-Since,If-None-Match", "both are sent"),
        Rule("validate.tag", "4.3.1", [tagged], at: 60, "validate 0 If-None-Match", "the entity tag must be sent"),
        Rule("validate.weak", "4.3.1", [weak], at: 60, "validate 0 If-None-Match", "a weak one, too"),
        Rule("validate.date", "4.3.1", [dated], at: 60, "validate 0 If-Modified-Since", "the date should be sent"),
        Rule(
            "validate.range", "4.3.1", .get("Range: bytes=0-1"), [both], at: 60,
            "validate 0 bytes 0..<2 If-None-Match",
            "the date is not sent with a request for a range"),
        Rule(
            "validate.head", "4.3.5", .request("HEAD"), [both], at: 60, "forward",
            "a HEAD has no body to spare: its plain answer freshens the stored response"),
        Rule(
            "validate.variant", "4.3.1", .get("A: 1"),
            [.response("Cache-Control: max-age=60\nETag: \"2\"\nVary: A", asked: .get("A: 2"))], at: 1, "forward",
            "the validator of another variant is not sent"),
        Rule(
            "validate.404", "RFC 9110 §15.4.5", [.response("Cache-Control: max-age=60\nETag: \"1\"", status: 404)],
            at: 60,
            "forward", "a 304 would say that there is a 200 now"),
        Rule(
            "validate.301", "RFC 9110 §15.4.5",
            [.response("Cache-Control: max-age=60\nLast-Modified: \(modified)", status: 301)], at: 60, "forward",
            "nor can a 304 confirm a redirect"),
        Rule(
            "validate.404-background", "RFC 9110 §15.4.5",
            [.response("Cache-Control: max-age=60, stale-while-revalidate=60\nETag: \"1\"", status: 404)], at: 61,
            "background 0", "in the background it is asked for without conditions"),
        Rule(
            "validate.immutable", "RFC 8246 §2", .get(policy: .reloadRevalidating),
            [.response("Cache-Control: max-age=60, immutable\nETag: \"1\"")], at: 59, "reuse 0",
            "while it is fresh an immutable response is not asked about"),
        Rule(
            "validate.immutable-stale", "RFC 8246 §2", .get(policy: .reloadRevalidating),
            [.response("Cache-Control: max-age=60, immutable\nETag: \"1\"")], at: 60,
            "validate 0 Cache-Control,If-None-Match", "when it is stale it is"),
    ]

    static let received = [
        Rule("precondition.tag", "4.3.2", .get("If-None-Match: \"1\""), [tagged], at: 1, "reuse 0 as 304", "the same"),
        Rule(
            "precondition.tag-list", "4.3.2", .get("If-None-Match: \"0\", \"1\""), [tagged], at: 1, "reuse 0 as 304",
            "in a list"),
        Rule("precondition.tag-other", "4.3.2", .get("If-None-Match: \"2\""), [tagged], at: 1, "reuse 0", "another"),
        Rule("precondition.any", "4.3.2", .get("If-None-Match: *"), [tagged], at: 1, "reuse 0 as 304", "any"),
        Rule(
            "precondition.any-untagged", "4.3.2", .get("If-None-Match: *"), [dated], at: 1, "reuse 0 as 304", "any"),
        Rule(
            "precondition.weak", "RFC 9110 §13.1.2", .get("If-None-Match: W/\"1\""), [tagged], at: 1, "reuse 0 as 304",
            "If-None-Match compares weakly"),
        Rule(
            "precondition.untagged", "4.3.2", .get("If-None-Match: \"1\""), [dated], at: 1, "reuse 0",
            "what has no entity tag matches none"),
        Rule(
            "precondition.date", "4.3.2", .get("If-Modified-Since: \(modified)"), [dated], at: 1, "reuse 0 as 304",
            "not modified since"),
        Rule(
            "precondition.date-earlier", "4.3.2", .get("If-Modified-Since: \(Moment.field(-200_000))"), [dated], at: 1,
            "reuse 0", "modified since"),
        Rule(
            "precondition.date-by-date", "4.3.2", .get("If-Modified-Since: \(Moment.field(-10))"),
            [.response("Cache-Control: max-age=60\nDate: \(Moment.field(-20))")], at: 1, "reuse 0 as 304",
            "without Last-Modified the Date counts"),
        Rule(
            "precondition.date-by-arrival", "4.3.2", .get("If-Modified-Since: \(Moment.field(10))"),
            [.response("Cache-Control: max-age=60")], at: 20, "reuse 0 as 304", "without Date the time of arrival"),
        Rule(
            "precondition.date-invalid", "RFC 9110 §13.1.3", .get("If-Modified-Since: once"), [dated], at: 1, "reuse 0",
            "an invalid date is ignored"),
        Rule(
            "precondition.tag-first", "4.3.2", .get("If-None-Match: \"2\"\nIf-Modified-Since: \(modified)"), [both],
            at: 1, "reuse 0", "the entity tag takes precedence"),
        Rule(
            "precondition.stale", "4.3.2", .get("If-None-Match: \"2\""), [tagged], at: 60, "forward",
            "the caller's own validators are sent"),
        Rule(
            "precondition.nothing-stored", "4.3.2", .get("If-None-Match: \"2\""), [], at: 1, "forward", "for the server"
        ),
        Rule(
            "precondition.status", "4.3.2", .get("If-None-Match: \"1\""),
            [.response("Cache-Control: max-age=60\nETag: \"1\"", status: 404)], at: 1, "reuse 0",
            "conditions are about a 200 or 206"),
        Rule(
            "precondition.if-match", "4.3.2", .get("If-Match: \"1\""), [tagged], at: 1, "forward",
            "If-Match is for the origin server"),
        Rule(
            "precondition.if-unmodified-since", "4.3.2", .get("If-Unmodified-Since: \(modified)"), [dated], at: 1,
            "forward", "If-Unmodified-Since is for the origin server"),
    ]

    @Test("sends and answers conditions as the table says", arguments: sent + received)
    func verdict(_ rule: Rule) { rule.check() }

    @Test("sends validators as they came")
    func validators() {
        let stored = Candidate.response("ETag: W/\"a,b\"\nLast-Modified: once upon a time")
        guard case .validate(_, let fields) = CacheRules().decision(for: .get(), among: [stored], at: Moment.arrival)
        else {
            Issue.record("not validated")
            return
        }
        #expect(fields["If-None-Match"] == "W/\"a,b\"")
        #expect(fields["If-Modified-Since"] == "once upon a time")
    }
}
