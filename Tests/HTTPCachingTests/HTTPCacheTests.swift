import Foundation
import HTTPCaching
import Testing

/// Uses only what is public.
@Suite("The public interface of the rules")
struct HTTPCacheTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let url: URL
    private let rules = HTTPCache()

    init() throws {
        url = try #require(URL(string: "HTTP://Example.com:80/a?b#c"))
    }

    private func candidate(
        _ fields: [(String, String)], to request: CacheRequest? = nil, among others: [Candidate] = [], size: Int = 10
    ) throws -> Candidate {
        let storing = HTTPCache.storing(
            200, fields: HTTPFields(fields), answering: request ?? CacheRequest(url: url), among: others,
            requestTime: now, responseTime: now)
        guard case .store(let response, _) = storing else { throw CocoaError(.coderReadCorrupt) }
        return Candidate(response, bodySize: size)
    }

    @Test("equivalent URLs have one key")
    func keys() {
        #expect(HTTPCache.key(of: url) == "http://example.com/a?b")
    }

    @Test("a fresh response is used, with its age, and for a part of it")
    func uses() throws {
        let stored = try candidate([("Cache-Control", "max-age=60")])
        let whole = rules.decision(for: CacheRequest(url: url), among: [stored], at: now + 20)
        guard case .use(let answer) = whole else { throw CocoaError(.coderReadCorrupt) }
        #expect((answer.index, answer.status, answer.fields["Age"], answer.bytes) == (0, 200, "20", nil))
        #expect(answer.freshness.isFresh && answer.freshness.staleness == -40)
        #expect(answer.reason == "fresh: age 20 s of 60 s (max-age)")
        let range = CacheRequest(url: url, fields: HTTPFields([("Range", "bytes=2-4")]))
        guard case .use(let part) = rules.decision(for: range, among: [stored], at: now) else {
            throw CocoaError(.coderReadCorrupt)
        }
        #expect((part.status, part.bytes, part.fields["Content-Range"]) == (206, 2..<5, "bytes 2-4/10"))
    }

    @Test("a stale response is validated, and freshened by a 304")
    func validates() throws {
        let stored = try candidate([("Cache-Control", "max-age=60"), ("ETag", "\"1\"")])
        let request = CacheRequest(url: url)
        guard case .validate(let answer, let fields) = rules.decision(for: request, among: [stored], at: now + 100)
        else { throw CocoaError(.coderReadCorrupt) }
        #expect(fields == HTTPFields([("If-None-Match", "\"1\"")]))
        let confirmed = HTTPFields([("ETag", "\"1\""), ("Cache-Control", "max-age=90")])
        let freshening = HTTPCache.freshening(
            with: confirmed, of: answer, among: [stored], answering: request, requestTime: now + 100,
            responseTime: now + 100)
        guard case .update(let updates, removing: []) = freshening, let updated = updates[0] else {
            throw CocoaError(.coderReadCorrupt)
        }
        #expect(rules.freshness(of: updated, at: now + 130).staleness == -60)
        let confirmedAnswer = answer.updated(to: updated)
        #expect((confirmedAnswer.index, confirmedAnswer.status, answer.fields["Age"]) == (0, 200, "100"))
        #expect(confirmedAnswer.fields["Cache-Control"] == "max-age=90" && confirmedAnswer.fields["Age"] == nil)
        let other = HTTPCache.freshening(
            with: HTTPFields([("ETag", "\"2\"")]), of: answer, among: [stored], answering: request,
            requestTime: now + 100, responseTime: now + 100)
        #expect(other == .mismatch)
    }

    /// A request with a field; without it if the value is nil.
    private func request(_ name: String, _ value: String?) -> CacheRequest {
        CacheRequest(url: url, fields: HTTPFields(value.map { [(name, $0)] } ?? []))
    }

    /// The candidates after a 304 to a request, which one of them answers.
    private func confirmed(
        _ candidates: [Candidate], by fields: [(String, String)], answering request: CacheRequest
    ) throws -> [Candidate] {
        guard case .validate(let answer, _) = rules.decision(for: request, among: candidates, at: now + 100),
            case .update(let updates, removing: let removed) = HTTPCache.freshening(
                with: HTTPFields(fields + Self.stale), of: answer, among: candidates, answering: request,
                requestTime: now + 100, responseTime: now + 100)
        else { throw CocoaError(.coderReadCorrupt) }
        return candidates.indices.filter { !removed.contains($0) }.map {
            Candidate(updates[$0] ?? candidates[$0].response, bodySize: 10)
        }
    }

    /// Fresh for a minute, with a tag.
    private static let stale = [("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]

    /// Whether a stored response answers the request after the 304.
    private func isAnswered(_ request: CacheRequest, by candidates: [Candidate]) throws -> Bool {
        switch rules.decision(for: request, among: candidates, at: now + 101) {
        case .use: return true
        case .send: return false
        default: throw CocoaError(.coderReadCorrupt)
        }
    }

    @Test("after a 304 that adds Vary, the response answers only requests like the one that was confirmed")
    func variesFromThenOn() throws {
        let stored = try candidate(Self.stale, to: request("X-Profile", "alice"))
        for name in ["alice", "bob"] {
            let left = try confirmed([stored], by: [("Vary", "X-Profile")], answering: request("X-Profile", name))
            #expect(left.count == 1)
            for asking in ["alice", "bob", nil] {
                #expect(try isAnswered(request("X-Profile", asking), by: left) == (asking == name))
            }
        }
    }

    @Test("after a 304 that adds private, the response answers only requests with the same cookies")
    func privateFromThenOn() throws {
        let stored = try candidate(Self.stale)
        let left = try confirmed([stored], by: [("Cache-Control", "private")], answering: request("Cookie", "bob"))
        for asking in ["alice", "bob", nil] {
            #expect(try isAnswered(request("Cookie", asking), by: left) == (asking == "bob"))
        }
    }

    @Test("a 304 that adds Vary removes others of the same tag, whose requests are not known")
    func removesOthers() throws {
        let alice = CacheRequest(url: url, fields: HTTPFields([("Accept", "a"), ("X-Profile", "alice")]))
        let bob = CacheRequest(url: url, fields: HTTPFields([("Accept", "b"), ("X-Profile", "bob")]))
        let hers = try candidate(Self.stale + [("Vary", "Accept")], to: alice)
        let his = try candidate(Self.stale, to: bob, among: [hers])
        let left = try confirmed([his, hers], by: [("Vary", "X-Profile")], answering: alice)
        #expect(left.count == 1)
        #expect(try isAnswered(alice, by: left))
        #expect(try !isAnswered(bob, by: left))
        #expect(try confirmed([his, hers], by: [("Vary", "Accept")], answering: alice).count == 2)
        #expect(try confirmed([his, hers], by: [], answering: alice).count == 2)
    }

    @Test(
        "a 304 after which the response must not be stored removes it",
        arguments: ["Cache-Control: no-store", "Vary: *"])
    func forbidsFromThenOn(field: String) throws {
        let stored = try candidate(Self.stale)
        let request = CacheRequest(url: url)
        guard case .validate(let answer, _) = rules.decision(for: request, among: [stored], at: now + 100) else {
            throw CocoaError(.coderReadCorrupt)
        }
        let freshening = HTTPCache.freshening(
            with: HTTPFields(lines: field), of: answer, among: [stored], answering: request, requestTime: now + 100,
            responseTime: now + 100)
        #expect(freshening == .update([:], removing: [0]))
    }

    @Test("a failure may be answered with a stale response, as far as the rules and the response allow")
    func falls() throws {
        var rules = HTTPCache()
        rules.staleIfError = 1000
        let request = CacheRequest(url: url)
        for (control, isAllowed) in [("max-age=60", true), ("max-age=60, must-revalidate", false)] {
            let stored = try candidate([("Cache-Control", control), ("ETag", "\"1\"")])
            guard case .validate(let answer, _) = rules.decision(for: request, among: [stored], at: now + 100) else {
                throw CocoaError(.coderReadCorrupt)
            }
            for failure in [HTTPCache.Failure.unreachable, .status(503)] {
                let fallback = rules.fallback(
                    to: answer, of: stored.response, for: request, after: failure, at: now + 100)
                #expect((fallback?.fields["Age"] == "100") == isAllowed)
            }
            let refused = rules.fallback(
                to: answer, of: stored.response, for: request, after: .status(404), at: now + 100)
            #expect(refused == nil)
        }
    }

    @Test("without a usable response the request is sent, or fails if it may not be")
    func sends() throws {
        let empty = rules.decision(for: CacheRequest(url: url), among: [], at: now)
        #expect(empty == .send(HTTPFields(), fallback: nil, reason: "nothing is stored"))
        let offline = CacheRequest(url: url, policy: .returnCacheDontLoad)
        #expect(rules.decision(for: offline, among: [], at: now) == .fail(reason: "nothing is stored"))
    }

    @Test("a response that must not be stored is not, and the cache says why")
    func objections() {
        func reason(_ status: Int, _ fields: [(String, String)], method: String = "GET") -> String? {
            let storing = HTTPCache.storing(
                status, fields: HTTPFields(fields), answering: CacheRequest(url: url, method: method),
                requestTime: now, responseTime: now)
            if case .nothing(let reason) = storing { return reason }
            return nil
        }
        #expect(reason(200, [("Cache-Control", "no-store")]) == "the response says no-store")
        #expect(reason(200, [("Vary", "*")]) == "the response varies on everything")
        #expect(reason(206, [("Content-Range", "bytes 0-1/2"), ("Cache-Control", "max-age=9")]) != nil)
        #expect(reason(200, [], method: "DELETE") == "responses to this method are not stored")
        #expect(reason(200, []) == nil)
    }

    @Test("a response replaces the one for the same variant, and answers no other")
    func variants() throws {
        func request(_ language: String) -> CacheRequest {
            CacheRequest(url: url, fields: HTTPFields([("Accept-Language", language)]))
        }
        let fields = [("Vary", "Accept-Language"), ("Cache-Control", "max-age=60")]
        let german = try candidate(fields, to: request("de"))
        let french = try candidate(fields, to: request("fr"), among: [german])
        let storing = HTTPCache.storing(
            200, fields: HTTPFields(fields), answering: request("de"), among: [french, german], requestTime: now,
            responseTime: now)
        guard case .store(_, replacing: let replaced) = storing else { throw CocoaError(.coderReadCorrupt) }
        #expect(replaced == [1])
        guard case .use(let answer) = rules.decision(for: request("fr"), among: [german, french], at: now) else {
            throw CocoaError(.coderReadCorrupt)
        }
        #expect(answer.index == 1)
        guard case .send = rules.decision(for: request("en"), among: [german, french], at: now) else {
            throw CocoaError(.coderReadCorrupt)
        }
    }

    @Test("a POST invalidates its target and its Location, unless it fails")
    func invalidates() {
        let post = CacheRequest(url: url, method: "POST")
        let fields = HTTPFields([("Location", "/new")])
        let keys = HTTPCache.invalidatedKeys(after: post, status: 201, fields: fields)
        #expect(keys == ["http://example.com/a?b", "http://example.com/new"])
        #expect(HTTPCache.invalidatedKeys(after: post, status: 500, fields: fields).isEmpty)
    }

    @Test("a stored response can be encoded, and decides the same afterwards")
    func encodes() throws {
        let stored = try candidate([("Cache-Control", "max-age=60"), ("Vary", "Accept"), ("ETag", "\"1\"")])
        let data = try JSONEncoder().encode(stored.response)
        let decoded = try JSONDecoder().decode(StoredResponse.self, from: data)
        #expect(decoded == stored.response)
    }
}
