import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("The delegate's result of willCacheResponse", .bounded)
struct WillCacheTests {
    static func changed(
        _ proposed: CachedURLResponse, fields: [String: String] = [:], data: Data? = nil, injected: String? = nil,
        policy: URLCache.StoragePolicy = .allowed
    ) -> CachedURLResponse? {
        guard let response = proposed.response as? HTTPURLResponse, let url = response.url else { return nil }
        var all = response.allHeaderFields as? [String: String] ?? [:]
        all.merge(fields) { $1 }
        return HTTPURLResponse(
            url: url, statusCode: response.statusCode, httpVersion: "HTTP/1.1", headerFields: all
        ).map {
            CachedURLResponse(
                response: $0, data: data ?? proposed.data,
                userInfo: injected.map { [InjectionMark.userInfoKey: $0] }, storagePolicy: policy)
        }
    }

    @Test("nil stores nothing")
    func refused() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.transport.decide { _ in nil }
        #expect(harness.load().body == "hello")
        #expect(harness.store.all.isEmpty)
        harness.transport.decide { Self.changed($0, policy: .notAllowed) }
        #expect(harness.load().body == "hello")
        #expect(harness.store.all.isEmpty)
    }

    @Test("other fields and another body are stored, while the caller gets the server's")
    func changed() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.transport.decide { Self.changed($0, fields: ["A": "1"], data: Data("changed".utf8)) }
        let first = harness.load()
        #expect(first.body == "hello" && first.field("A") == nil)
        let second = harness.load()
        #expect(second.body == "changed" && second.field("A") == "1")
    }

    @Test("can make an uncacheable response cacheable, and the reverse")
    func cacheability() {
        let harness = FetchHarness(FakeReply(500, [:], "sorry"))
        harness.transport.decide { Self.changed($0, fields: ["Cache-Control": "max-age=60"]) }
        harness.load()
        #expect(harness.store.all.count == 1)
        harness.store.removeAll()
        harness.transport.decide { Self.changed($0, fields: ["Cache-Control": "no-store"]) }
        harness.load()
        #expect(harness.store.all.isEmpty)
    }

    @Test("is not requested for a response that must not be stored")
    func notAsked() {
        let replies = [
            FakeReply(200, ["Cache-Control": "no-store"], "a"), FakeReply(200, ["Vary": "*"], "a"),
            FakeReply(304, [:], ""),
        ]
        for reply in replies {
            let harness = FetchHarness(reply)
            harness.load()
            #expect(harness.transport.proposals.isEmpty)
        }
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "a"))
        harness.load { $0.httpMethod = "PUT" }
        harness.load { $0.setValue("no-store", forHTTPHeaderField: "Cache-Control") }
        #expect(harness.transport.proposals.isEmpty)
    }

    @Test("gives an injected lifetime, which callers do not see, and which begins anew after a 304")
    func injection() {
        let harness = FetchHarness(FakeReply(200, ["ETag": "\"1\""], "hello"))
        harness.transport.decide {
            Self.changed($0, fields: ["Cache-Control": "max-age=100"], injected: "max-age=100")
        }
        let first = harness.load()
        #expect(first.field("Cache-Control") == nil)
        #expect(first.fetched?.freshUntil == harness.clock.now.addingTimeInterval(100))
        #expect(harness.store.all.first?.fields["Cache-Control"] == "max-age=100")

        harness.clock.advance(by: 99)
        let second = harness.load()
        #expect(second.source == .cache && second.field("Cache-Control") == nil)
        #expect(second.fetched?.trace.lifetimeRule == "injected max-age")

        harness.clock.advance(by: 2)
        harness.transport.serve { _ in FakeReply(304, ["ETag": "\"1\""]) }
        let third = harness.load()
        #expect(third.source == .revalidated && third.field("Cache-Control") == nil)
        harness.clock.advance(by: 99)
        #expect(harness.load().source == .cache)
        #expect(harness.transport.requests.count == 2)
    }

    @Test("nil after a 304 removes the stored response")
    func refusedAfter304() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "hello"))
        harness.load()
        harness.clock.advance(by: 61)
        harness.transport.serve { _ in FakeReply(304, ["ETag": "\"1\""]) }
        harness.transport.decide { _ in nil }
        #expect(harness.load().body == "hello")
        #expect(harness.store.all.isEmpty)
    }
}
