import HTTPCaching
import Testing

/// Which requests wait for the response to another one instead of asking the server, too.
@Suite("Sharing a request between processes")
struct LeaseKeyTable {
    static let stale = Candidate.response("Cache-Control: max-age=10\nETag: \"1\"")

    static func key(
        _ request: CacheRequest, _ stored: [Candidate] = [], rules: CacheRules = CacheRules()
    ) -> String? {
        let decision = rules.decision(for: request, among: stored, at: Moment.at(100))
        return CacheRules.leaseKey(of: request, decision: decision, among: stored)
    }

    static let shared: [(CacheRequest, [Candidate])] = [
        (.get(), []), (.get(), [stale]), (.get("X-Trace: 1"), []), (.get("Cache-Control: max-age=60"), []),
        (.get(policy: .returnCacheElseLoad), []),
        (.get(), [.response("Cache-Control: max-age=10, stale-while-revalidate=1000")]),
        (.get(), [.response("Cache-Control: max-age=10\nVary: A", asked: .get("A: 1"))]),
        (.get(), [.response("ETag: \"1\"\nContent-Range: bytes 0-9/20", status: 206)]),
        (CacheRequest.request("QUERY").reusable(for: "body"), []),
        (CacheRequest.request("POST").reusable(for: "body"), []),
    ]

    @Test("a request that a stored response could answer, or could have answered a while ago", arguments: shared)
    func hasKey(request: CacheRequest, stored: [Candidate]) {
        #expect(Self.key(request, stored) != nil)
    }

    static let alone: [(CacheRequest, [Candidate])] = [
        (.get(), [.response("Cache-Control: max-age=1000")]),  // it is answered
        (.request("HEAD"), []), (.request("POST"), []), (.request("PUT"), []),
        (.get("Range: bytes=0-1"), []), (.get("If-None-Match: \"1\""), []), (.get("If-Match: \"1\""), []),
        (.get("Cache-Control: no-store"), []), (.get("Cache-Control: no-cache"), []),
        (.get("Cache-Control: no-cache"), [stale]), (.get("Pragma: no-cache"), []),
        (.get("Cache-Control: max-age=0"), []), (.get("Cache-Control: only-if-cached"), []),
        (.get(policy: .reloadIgnoringLocal), []), (.get(policy: .reloadRevalidating), [stale]),
        (.get(policy: .offline), []), (.get(policy: .returnCacheDontLoad), []),
        (.get(), [.response("Cache-Control: max-age=0\nETag: \"1\"")]),  // validated for each use
        (.get(), [.response("Cache-Control: no-cache\nETag: \"1\"")]),
    ]

    @Test("a request whose response answers no other one", arguments: alone)
    func hasNone(request: CacheRequest, stored: [Candidate]) {
        #expect(Self.key(request, stored) == nil)
    }

    static let pairs: [(CacheRequest, CacheRequest, [Candidate], Bool)] = [
        (.get("X-Trace: 1"), .get("X-Trace: 2"), [], true),
        (.get("X-Trace: 1"), .get("X-Trace: 2"), [.response("Vary: x-trace", asked: .get("X-Trace: 3"))], false),
        (.get("Authorization: a"), .get("Authorization: b"), [], false),
        (.get("Authorization: a"), .get(), [], false), (.get("Cookie: a"), .get(), [], false),
        (.get("X-Api-Key: a"), .get(session: "X-Api-Key: a"), [], true),
        (.get("Accept-Language: de, en"), .get("accept-language: EN,de"), [], true),
        (.get("Accept-Language: de"), .get("Accept-Language: en"), [], false),
        (.get("A: 1\nAccept: x/y\nCookie: b"), .get("Cookie: b\nAccept: x/y\nA: 2"), [], true),
        (.get(), .request("GET", url: "http://a.example/y"), [], false),
        (.request("QUERY").reusable(for: "a"), .request("QUERY").reusable(for: "b"), [], false),
        (.request("QUERY").reusable(for: "a"), .get(), [], false),
    ]

    @Test("have the same key if one response may answer both", arguments: pairs)
    func keys(one: CacheRequest, other: CacheRequest, stored: [Candidate], isSame: Bool) {
        let keys = (Self.key(one, stored), Self.key(other, stored))
        #expect(keys.0 != nil && keys.1 != nil && (keys.0 == keys.1) == isSame)
    }

    @Test("the key has no secrets")
    func secrets() {
        #expect(Self.key(.get("Authorization: Bearer abcdef"))?.contains("abcdef") == false)
    }
}
