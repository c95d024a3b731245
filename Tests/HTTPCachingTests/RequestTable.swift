import HTTPCaching
import Testing

/// RFC 9111 §5.2.1, §5.4, and `URLRequest.CachePolicy`: what a request asks of the cache.
@Suite("Requests")
struct RequestTable {
    static let hour = Candidate.response("Cache-Control: max-age=3600\nETag: \"1\"")
    static let old = Candidate.response("Cache-Control: max-age=60\nETag: \"1\"")
    static let validated = "validate 0 If-None-Match"

    static func directive(
        _ id: String, _ section: String, _ directive: String, at age: Double, _ expected: String, _ reason: String
    ) -> Rule {
        Rule("request.\(id)", section, .get("Cache-Control: \(directive)"), [hour], at: age, expected, reason)
    }

    static let directives = [
        directive("max-age", "5.2.1.1", "max-age=30", at: 30, "reuse 0", "its age is no more than that"),
        directive("max-age-over", "5.2.1.1", "max-age=30", at: 31, validated, "its age is more"),
        directive("max-age-zero", "5.2.1.1", "max-age=0", at: 1, validated, "nothing is young enough"),
        directive("max-age-invalid", "5.2.1.1", "max-age=x", at: 1, validated, "what cannot be read is the strictest"),
        directive("min-fresh", "5.2.1.3", "min-fresh=600", at: 3000, "reuse 0", "it is fresh for that long"),
        directive("min-fresh-not", "5.2.1.3", "min-fresh=600", at: 3001, validated, "it is not"),
        directive("min-fresh-longer", "5.2.1.3", "min-fresh=7200", at: 1, validated, "it never was"),
        directive("no-cache", "5.2.1.4", "no-cache", at: 1, validated, "not without validation"),
        directive("no-store", "5.2.1.5", "no-store", at: 1, "forward", "it is not to be seen in a cache"),
        directive("only-if-cached", "5.2.1.7", "only-if-cached", at: 1, "reuse 0", "it is stored"),
        directive("only-if-cached-stale", "5.2.1.7", "only-if-cached", at: 3600, "refuse", "it is stale"),
        directive(
            "only-if-cached-no-cache", "5.2.1.7", "only-if-cached, no-cache", at: 1, "refuse", "no use is allowed"),
        directive(
            "only-if-cached-max-stale", "5.2.1.7", "only-if-cached, max-stale", at: 3600, "reuse 0", "stale is fine"),
        directive("unknown", "5.2.3", "foo, bar=\"no-cache\"", at: 1, "reuse 0", "directives that are not known"),
        Rule(
            "request.only-if-cached-nothing", "5.2.1.7", .get("Cache-Control: only-if-cached"), [], at: 1, "refuse",
            "nothing is stored"),
        Rule(
            "request.max-age-max-stale", "5.2.1.1", .get("Cache-Control: max-age=30, max-stale=100"), [old], at: 100,
            "reuse 0", "a stale response is wished for, too"),
        Rule(
            "request.max-age-max-stale-longer", "5.2.1.2", .get("Cache-Control: max-age=30, max-stale=60"), [old],
            at: 100, validated, "it is older than both together"),
        Rule(
            "request.max-age-max-stale-min-fresh", "5.2.1.3",
            .get("Cache-Control: max-age=30, max-stale=100, min-fresh=5"), [old], at: 100, validated,
            "max-age does not switch min-fresh off"),
        Rule(
            "request.max-age-max-stale-fresh", "5.2.1.2", .get("Cache-Control: max-age=30, max-stale=100"), [hour],
            at: 100, "reuse 0", "it may be older by max-stale"),
        Rule(
            "request.max-age-max-stale-must-revalidate", "5.2.2.2",
            .get("Cache-Control: max-age=30, max-stale=100"), [.response("Cache-Control: max-age=60, must-revalidate")],
            at: 50, "forward", "the server allows no stale response"),
        Rule("request.pragma", "5.4", .get("Pragma: no-cache"), [hour], at: 1, validated, "as no-cache"),
        Rule(
            "request.pragma-cache-control", "5.4", .get("Pragma: no-cache\nCache-Control: max-age=60"), [hour], at: 1,
            "reuse 0", "Cache-Control takes its place"),
        Rule("request.pragma-other", "5.4", .get("Pragma: foo"), [hour], at: 1, "reuse 0", "not known"),
        Rule(
            "request.pragma-response", "5.4", [.response("Cache-Control: max-age=60\nPragma: no-cache")], at: 1,
            "reuse 0", "in responses it says nothing"),
        Rule(
            "request.implied-directive", "5.2.1.4", .get(session: "Cache-Control: no-cache"), [hour], at: 1, validated,
            "a session may add the directive"),
    ]

    static func policy(
        _ policy: CachePolicy, _ name: String, _ stored: [Candidate], _ expected: String, _ reason: String
    ) -> Rule {
        Rule("policy.\(name)", "Foundation", .get(policy: policy), stored, at: 100, expected, reason)
    }

    static let policies = [
        policy(.useProtocol, "protocol", [hour], "reuse 0", "as the protocol says"),
        policy(.useProtocol, "protocol-stale", [old], validated, "as the protocol says"),
        policy(.reloadIgnoringLocal, "reload", [hour], "forward", "the network, without validators"),
        policy(
            .reloadIgnoringLocalAndRemote, "reload-remote", [hour], "forward Cache-Control,Pragma",
            "caches on the way are told"),
        policy(.returnCacheElseLoad, "else-load", [old], "reuse 0", "whatever its age"),
        policy(.returnCacheElseLoad, "else-load-nothing", [], "forward", "nothing is stored"),
        policy(
            .returnCacheElseLoad, "else-load-no-cache", [.response("Cache-Control: no-cache")], "reuse 0",
            "the caller says so"),
        policy(.returnCacheDontLoad, "dont-load", [old], "reuse 0", "whatever its age"),
        policy(.returnCacheDontLoad, "dont-load-nothing", [], "refuse", "never the network"),
        policy(
            .returnCacheDontLoad, "dont-load-no-store", [.response("Cache-Control: no-store")], "refuse",
            "no-store is never used"),
        policy(.offline, "offline", [old], "reuse 0", "whatever its age"),
        policy(
            .offline, "offline-must-revalidate", [.response("Cache-Control: max-age=1, must-revalidate")], "reuse 0",
            "there is no server to ask"),
        policy(
            .offline, "offline-no-cache", [.response("Cache-Control: no-cache\nETag: \"1\"")], "reuse 0", "the same"),
        policy(.offline, "offline-nothing", [], "refuse", "never the network"),
        policy(
            .offline, "offline-no-store", [.response("Cache-Control: no-store")], "refuse", "no-store is never used"),
        policy(
            .offline, "offline-vary", [.response("Cache-Control: max-age=600\nVary: A", asked: .get("A: 1"))], "refuse",
            "it answers another request"),
        Rule(
            "policy.offline-directives", "Foundation",
            .get("Cache-Control: no-cache, max-age=0, min-fresh=9", policy: .offline), [old], at: 100, "reuse 0",
            "the request's directives ask for a server that is not there"),
        Rule(
            "policy.offline-if-match", "Foundation", .get("If-Match: \"1\"", policy: .offline), [old], at: 1, "refuse",
            "only the origin can judge the precondition"),
        Rule(
            "policy.offline-unsafe", "Foundation", .request("POST", policy: .offline), [old], at: 1, "refuse",
            "unsafe methods need the server"),
        policy(
            .reloadRevalidating, "revalidate", [hour], "validate 0 Cache-Control,If-None-Match",
            "what the server confirms"),
        policy(
            .reloadRevalidating, "revalidate-no-validator", [.response("Cache-Control: max-age=3600")],
            "forward Cache-Control", "there is nothing to confirm it by"),
        Rule(
            "policy.callers-directive", "Foundation",
            .get("Cache-Control: max-age=5", policy: .reloadIgnoringLocalAndRemote), [hour], at: 1, "forward",
            "what the caller says itself stands"),
    ]

    @Test("are judged as the table says", arguments: directives + policies)
    func verdict(_ rule: Rule) { rule.check() }
}
