import HTTPCaching
import Testing

/// RFC 9110 §9.3.3 and RFC 10008: requests with a body whose responses may be reused, because the caller or the method says so.
@Suite("Queries")
struct QueryTable {
    static func query(
        _ key: String, _ method: String = "POST", _ lines: String = "", policy: CachePolicy = .useProtocol
    ) -> CacheRequest {
        .request(method, lines, policy: policy).reusable(for: key)
    }

    static func stored(_ key: String, _ method: String = "POST", _ lines: String = "", more: String = "") -> Candidate {
        .response(
            "Cache-Control: max-age=60\(more)\nETag: \"1\"", asked: query(key, method, lines), method: method)
    }

    static let section = "RFC 9110 §9.3.3"

    static func one(
        _ id: String, _ request: CacheRequest, _ candidate: Candidate, at moment: Double = 1, _ expected: String,
        _ reason: String
    ) -> Rule {
        Rule("query.\(id)", section, request, [candidate], at: moment, expected, reason)
    }

    static let rules = [
        one("same", query("1"), stored("1"), "reuse 0", "method and key are the same"),
        one("other-key", query("2"), stored("1"), "forward", "another body asks for something else"),
        one("query", query("1", "QUERY"), stored("1", "QUERY"), "reuse 0", "QUERY is the same, by its definition"),
        one("other-method", query("1", "QUERY"), stored("1"), "forward", "the method is part of the key"),
        one("unkeyed", .request("POST"), stored("1"), "forward", "a POST without a key is written through"),
        one("get", .get(), stored("1"), "forward", "the response to a query is not the target's representation"),
        one("head", .request("HEAD"), stored("1"), "forward", "nor does it answer HEAD"),
        one("from-get", query("1"), ReuseTable.fresh, "forward", "the target's representation answers no query"),
        one(
            "other-user", query("1", "POST", "Authorization: b"), stored("1", "POST", "Authorization: a"), "forward",
            "credentials select"),
        one("stale", query("1"), stored("1"), at: 60, "forward", "with If-None-Match, a POST may fail with 412"),
        one(
            "stale-query", query("1", "QUERY"), stored("1", "QUERY"), at: 60, "validate 0 If-None-Match",
            "the validator of a QUERY is that of its result (RFC 10008 §2.6)"),
        one("last-second", query("1"), stored("1"), at: 59, "reuse 0", "it is fresh"),
        one(
            "stale-while-revalidate", query("1"), stored("1", more: ", stale-while-revalidate=600"), at: 61, "forward",
            "the validation in the background is a GET"),
        one(
            "query-while-revalidate", query("1", "QUERY"), stored("1", "QUERY", more: ", stale-while-revalidate=600"),
            at: 61, "validate 0 If-None-Match", "so the caller waits for it"),
        one(
            "conditional-query", query("1", "QUERY", "If-None-Match: \"1\""), stored("1", "QUERY"), "reuse 0 as 304",
            "the caller has the same result"),
        one("any-age", query("1", policy: .returnCacheElseLoad), stored("1"), at: 999, "reuse 0", "the caller says so"),
        one("offline", query("1", policy: .offline), stored("1"), at: 999, "reuse 0", "whatever its age"),
        one("offline-other-key", query("2", policy: .offline), stored("1"), "refuse", "never the network"),
        one("reload", query("1", policy: .reloadIgnoringLocal), stored("1"), "forward", "the caller says so"),
        one("no-cache", query("1", "POST", "Cache-Control: no-cache"), stored("1"), "forward", "the request says so"),
    ]

    @Test("are judged as the table says", arguments: rules)
    func verdict(_ rule: Rule) { rule.check() }

    static let storing = [
        StoringTable.Case("query.stored", section, query("1"), "Cache-Control: max-age=60"),
        StoringTable.Case("query.expires", section, query("1"), "Expires: \(Moment.field(60))"),
        StoringTable.Case("query.stored-query", section, query("1", "QUERY"), "Cache-Control: max-age=60"),
        StoringTable.Case(
            "query.no-lifetime", section, query("1"), "Last-Modified: \(Moment.field(-900))", .notCacheable),
        StoringTable.Case(
            "query.heuristic", "RFC 10008 §2.7", query("1", "QUERY"), "Last-Modified: \(Moment.field(-900))"),
        StoringTable.Case("query.nothing-said", "RFC 10008 §2.7", query("1", "QUERY"), "A: 1"),
        StoringTable.Case("query.public", section, query("1"), "Cache-Control: public", .notCacheable),
        StoringTable.Case("query.no-store", section, query("1"), "Cache-Control: max-age=60, no-store", .noStore),
        StoringTable.Case("query.vary", section, query("1"), "Cache-Control: max-age=60\nVary: *", .variesOnEverything),
        StoringTable.Case(
            "query.part", section, query("1"), status: 206, "Cache-Control: max-age=60\nContent-Range: bytes 0-4/10",
            .status),
    ]

    @Test("are stored as the table says: a POST with an explicit lifetime only", arguments: storing)
    func objection(_ test: StoringTable.Case) {
        let objection = CacheRules.objection(
            toStoring: test.status, fields: HTTPFields(lines: test.lines), answering: test.request)
        #expect(objection == test.objection, "\(test.testDescription)")
    }

    @Test("a 304 to a QUERY is about responses to the same QUERY (RFC 10008 §2.6)")
    func confirmed() {
        let stored = [Self.stored("1", "QUERY"), Self.stored("2", "QUERY"), Self.stored("1"), ReuseTable.fresh]
        let same = HTTPFields(lines: "ETag: \"1\"")
        let query = Self.query("1", "QUERY")
        #expect(CacheRules.confirmation(by: same, asked: 0, among: stored, for: query) == .update([0]))
        #expect(CacheRules.candidates(confirmedBy: same, among: stored, for: query) == [0])
        #expect(CacheRules.candidates(confirmedBy: same, among: stored, for: .get()) == [3])
    }

    @Test("invalidate nothing, unlike the same request without a key", arguments: ["POST", "QUERY"])
    func invalidation(method: String) {
        let unkeyed = CacheRules.invalidatedKeys(after: .request("POST"), status: 200, fields: HTTPFields())
        #expect(unkeyed == [CacheRequest.url])
        #expect(CacheRules.invalidatedKeys(after: Self.query("1", method), status: 200, fields: HTTPFields()).isEmpty)
    }
}
