import HTTPCaching
import Testing

/// RFC 9111 §4: when a stored response may be used.
@Suite("Reuse")
struct ReuseTable {
    static let fresh = Candidate.response("Cache-Control: max-age=60\nETag: \"1\"")

    static let rules = [
        Rule("reuse.nothing", "4", [], at: 0, "forward", "nothing is stored"),
        Rule("reuse.fresh", "4", [fresh], at: 59, "reuse 0", "it is fresh"),
        Rule("reuse.stale", "4", [fresh], at: 60, "validate 0 If-None-Match", "its age has reached its lifetime"),
        Rule(
            "reuse.stale-no-validator", "4", [.response("Cache-Control: max-age=60")], at: 60, "forward",
            "it is stale and has no validator"),
        Rule(
            "reuse.other-uri", "4", [.response("Cache-Control: max-age=60", url: "http://a.example/y")], at: 1,
            "forward", "the target URI differs"),
        Rule(
            "reuse.other-query", "4", .request("GET", url: "http://a.example/x?w=1"),
            [.response("Cache-Control: max-age=60", url: "http://a.example/x?w=2")], at: 1, "forward",
            "the query is part of the target URI"),
        Rule("reuse.head", "4", .request("HEAD"), [fresh], at: 1, "reuse 0", "a GET's response answers HEAD"),
        Rule(
            "reuse.head-for-get", "4", [.response("Cache-Control: max-age=60", method: "HEAD")], at: 1, "forward",
            "a HEAD's response has no body to answer GET with"),
        Rule("reuse.post", "4", .request("POST"), [fresh], at: 1, "forward", "unsafe methods are written through"),
        Rule("reuse.put", "4", .request("PUT"), [fresh], at: 1, "forward", "unsafe methods are written through"),
        Rule("reuse.unknown-method", "4", .request("FOO"), [fresh], at: 1, "forward", "unknown methods are, too"),
        Rule("reuse.options", "4", .request("OPTIONS"), [fresh], at: 1, "forward", "only GET and HEAD are understood"),
        Rule(
            "reuse.no-cache", "5.2.2.4", [.response("Cache-Control: max-age=60, no-cache\nETag: \"1\"")], at: 1,
            "validate 0 If-None-Match", "no-cache demands validation, fresh or not"),
        Rule(
            "reuse.no-cache-no-validator", "5.2.2.4", [.response("Cache-Control: max-age=60, no-cache")], at: 1,
            "forward", "no-cache demands validation, and there is nothing to validate by"),
        Rule(
            "reuse.no-cache-fields", "5.2.2.4", [.response("Cache-Control: max-age=60, no-cache=\"Set-Cookie\"")],
            at: 1, "reuse 0", "the qualified form restricts the fields that it names alone"),
        Rule(
            "reuse.no-cache-empty", "5.2.2.4", [.response("Cache-Control: max-age=60, no-cache=\"\"")], at: 1,
            "forward", "no-cache without names restricts everything"),
        Rule(
            "reuse.no-store", "5.2.2.5", [.response("Cache-Control: max-age=60, no-store")], at: 1, "forward",
            "no-store must not be used, however it came into the store"),
        Rule(
            "reuse.must-understand", "5.2.2.3",
            [.response("Cache-Control: max-age=60, no-store, must-understand")], at: 1, "reuse 0",
            "must-understand takes the place of no-store where the status is understood"),
        Rule(
            "reuse.must-understand-not", "5.2.2.3",
            [.response("Cache-Control: max-age=60, no-store, must-understand", status: 299)], at: 1, "forward",
            "the status is not understood"),
        Rule(
            "reuse.must-understand-alone", "5.2.2.3",
            [.response("Cache-Control: max-age=60, must-understand", status: 599)], at: 1, "forward",
            "the status is not understood"),
        Rule(
            "reuse.private", "5.2.2.7", [.response("Cache-Control: private, max-age=60")], at: 1, "reuse 0",
            "this is a private cache"),
        Rule(
            "reuse.most-recent", "4",
            [
                .response("Cache-Control: max-age=600\nDate: \(Moment.field(0))"),
                .response("Cache-Control: max-age=600\nDate: \(Moment.field(20))", arrived: 20),
                .response("Cache-Control: max-age=600\nDate: \(Moment.field(10))", arrived: 30),
            ], at: 40, "reuse 1", "the most recent by Date is used, wherever it stands"),
        Rule(
            "reuse.most-recent-undated", "4",
            [.response("Cache-Control: max-age=600"), .response("Cache-Control: max-age=600", arrived: 20)], at: 40,
            "reuse 1", "without Date the time of arrival counts"),
        Rule(
            "reuse.error-status", "4", [.response("Cache-Control: max-age=60", status: 404)], at: 1, "reuse 0",
            "a stored error answers, too"),
        Rule(
            "reuse.unknown-extension", "5.2.3", [.response("Cache-Control: max-age=60, community=\"UCI\", foo")],
            at: 1, "reuse 0", "directives that are not known are ignored"),
    ]

    @Test("is judged as the table says", arguments: rules)
    func verdict(_ rule: Rule) { rule.check() }
}
