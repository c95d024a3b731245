import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

/// `URLRequest.CachePolicy`, as Apple documents it.
@Suite("A cache policy", .bounded)
struct CachePolicyTests {
    /// A response is stored and 10 s or 100 s old; it is fresh for 60 s.
    struct Case: Sendable, CustomTestStringConvertible {
        let policy: URLRequest.CachePolicy
        let isFresh: Bool
        /// What comes back; the network has “new”. Nil for an error.
        let body: String?
        /// The fields that are sent; nil if nothing is.
        let sent: [String: String]?
        var testDescription: String { "policy \(policy.rawValue), \(isFresh ? "fresh" : "stale")" }
    }

    static let validators = ["If-None-Match": "\"1\""]
    static let cases = [
        Case(policy: .useProtocolCachePolicy, isFresh: true, body: "old", sent: nil),
        Case(policy: .useProtocolCachePolicy, isFresh: false, body: "new", sent: validators),
        Case(policy: .reloadIgnoringLocalCacheData, isFresh: true, body: "new", sent: [:]),
        Case(policy: .reloadIgnoringLocalCacheData, isFresh: false, body: "new", sent: [:]),
        Case(
            policy: .reloadIgnoringLocalAndRemoteCacheData, isFresh: true, body: "new",
            sent: ["Cache-Control": "no-cache", "Pragma": "no-cache"]),
        Case(policy: .returnCacheDataElseLoad, isFresh: true, body: "old", sent: nil),
        Case(policy: .returnCacheDataElseLoad, isFresh: false, body: "old", sent: nil),
        Case(policy: .returnCacheDataDontLoad, isFresh: true, body: "old", sent: nil),
        Case(policy: .returnCacheDataDontLoad, isFresh: false, body: "old", sent: nil),
        Case(
            policy: .reloadRevalidatingCacheData, isFresh: true, body: "new",
            sent: ["Cache-Control": "max-age=0", "If-None-Match": "\"1\""]),
        Case(
            policy: .reloadRevalidatingCacheData, isFresh: false, body: "new",
            sent: ["Cache-Control": "max-age=0", "If-None-Match": "\"1\""]),
    ]

    @Test("has the meaning that Apple documents", arguments: cases)
    func meaning(_ test: Case) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "old"))
        harness.load()
        harness.clock.advance(by: test.isFresh ? 10 : 100)
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"2\""], "new") }
        let events = harness.load { $0.cachePolicy = test.policy }
        #expect(events.body == test.body)
        let sent = harness.transport.requests.dropFirst().first?.allHTTPHeaderFields
        #expect(test.sent == (harness.transport.requests.count > 1 ? sent ?? [:] : nil))
        if test.sent != nil { #expect(harness.store.bodies == ["new"], "the answer is stored") }
    }

    @Test("that takes any age makes no object fresh for longer than its response is", arguments: [10.0, 100])
    func anyAge(age: Double) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "old"))
        harness.load()
        let freshUntil = harness.clock.now.addingTimeInterval(60)
        harness.clock.advance(by: age)
        let events = harness.load { $0.cachePolicy = .returnCacheDataElseLoad }
        #expect(events.fetched?.freshUntil == (age < 60 ? freshUntil : .distantPast))
    }

    @Test("a stored response over the caller's limit is not read")
    func tooLarge() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "four"))
        harness.load()
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60"], "new") }
        #expect(harness.load(harness.request("http://a.example/x"), limit: 3).body == "new")
        #expect(
            harness.load(harness.request("http://a.example/x"), limit: 4).body == "new", "the answer has replaced it")
    }

    @Test("of the store alone is an error when nothing is stored, and nothing is sent")
    func notCached() {
        let harness = FetchHarness(FakeReply(200, [:], "new"))
        let policy = harness.load { $0.cachePolicy = .returnCacheDataDontLoad }
        let directive = harness.load { $0.setValue("only-if-cached", forHTTPHeaderField: "Cache-Control") }
        for events in [policy, directive] {
            guard case .notCached(let context)? = events.error else {
                Issue.record("not an error")
                return
            }
            #expect(context.trace.reason == "nothing is stored")
        }
        #expect(harness.transport.requests.isEmpty)
    }

    @Test("never takes a variant that was stored for other fields", arguments: URLRequest.CachePolicy.all)
    func variants(policy: URLRequest.CachePolicy) {
        let harness = FetchHarness(
            FakeReply(200, ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], "deutsch"))
        harness.load { $0.setValue("de", forHTTPHeaderField: "Accept-Language") }
        harness.transport.serve { _ in FakeReply(200, [:], "english") }
        let events = harness.load {
            $0.setValue("en", forHTTPHeaderField: "Accept-Language")
            $0.cachePolicy = policy
        }
        #expect(events.body == (policy == .returnCacheDataDontLoad ? nil : "english"))
    }

    @Test(
        "never takes an answer to another credential, whatever field it is in",
        arguments: URLRequest.CachePolicy.all, ["Authorization", "X-Api-Key", "X-Amz-Security-Token"])
    func credentials(policy: URLRequest.CachePolicy, name: String) {
        let harness = FetchHarness { request in
            FakeReply(200, ["Cache-Control": "max-age=60"], request.value(forHTTPHeaderField: name) ?? "anonymous")
        }
        for credential in ["Bearer a", "Bearer b", nil, "Bearer a"] {
            let events = harness.load {
                $0.setValue(credential, forHTTPHeaderField: name)
                $0.cachePolicy = policy
            }
            #expect(events.body == (policy == .returnCacheDataDontLoad ? nil : credential ?? "anonymous"))
        }
        #expect(!harness.store.all.contains { "\($0)".contains("Bearer") }, "only a digest is kept")
    }
}

extension URLRequest.CachePolicy {
    static let all: [Self] = [
        .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
        .returnCacheDataElseLoad, .returnCacheDataDontLoad, .reloadRevalidatingCacheData,
    ]
}
