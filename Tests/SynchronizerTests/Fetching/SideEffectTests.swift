import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("Other methods and conditions", .bounded)
struct SideEffectTests {
    @Test("a non-error response to an unsafe method removes the entry", arguments: ["POST", "PUT", "DELETE", "FOO"])
    func invalidation(method: String) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        for path in ["x", "y", "z"] { harness.load("http://a.example/\(path)") }
        harness.load("http://b.example/x")
        harness.transport.serve { _ in FakeReply(500) }
        harness.load { $0.httpMethod = method }
        #expect(harness.store.all.count == 4)
        harness.transport.serve { _ in
            FakeReply(201, ["Location": "/y", "Content-Location": "http://b.example/x"], "made")
        }
        #expect(harness.load { $0.httpMethod = method }.body == "made")
        #expect(Set(harness.store.all.map(\.url)) == ["http://a.example/z", "http://b.example/x"])
    }

    @Test("safe methods other than GET go to the server and drop nothing", arguments: ["OPTIONS", "PROPFIND"])
    func safe(method: String) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.load { $0.httpMethod = method }
        #expect(harness.transport.requests.count == 2)
        #expect(harness.store.all.count == 1)
    }

    @Test("a POST response that contains the target's representation is stored for GET")
    func post() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "Content-Location": "/x"], "hello"))
        harness.load { $0.httpMethod = "POST" }
        #expect(harness.load().source == .cache)
    }

    @Test("it is not if its entry was invalidated before it arrived", arguments: [false, true])
    func invalidatedPost(isAll: Bool) {
        let harness = FetchHarness()
        harness.transport.serve { [fetcher = harness.fetcher, request = harness.request()] _ in
            if isAll { fetcher.removeAllStored() } else { fetcher.removeStoredSoon(for: [request]) }
            return FakeReply(200, ["Cache-Control": "max-age=60", "Content-Location": "/x"], "hello")
        }
        #expect(harness.load { $0.httpMethod = "POST" }.body == "hello")
        #expect(harness.store.all.isEmpty)
    }

    @Test("no part of a response to a request with no-store is stored (RFC 9111 §5.2.1.5)", arguments: ["HEAD", "GET"])
    func requestNoStore(method: String) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "1"], "hello"))
        harness.load()
        harness.transport.serve { _ in
            FakeReply(method == "HEAD" ? 200 : 304, ["Cache-Control": "max-age=600", "ETag": "\"1\"", "A": "2"])
        }
        harness.load { request in
            request.httpMethod = method
            request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
            if method == "GET" { request.setValue("\"1\"", forHTTPHeaderField: "If-None-Match") }
        }
        #expect(harness.transport.requests.count == 2)
        #expect(harness.store.all.map { $0.fields["A"] } == ["1"])
    }

    @Test("a HEAD is answered from a stored body that is too large for a load")
    func headOfLargeBody() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        let answer = harness.load(harness.request { $0.httpMethod = "HEAD" }, limit: 2)
        #expect(answer.source == .cache)
        #expect(harness.transport.requests.count == 1)
    }

    @Test("a fresh GET entry answers a HEAD, and a HEAD response freshens a stale one")
    func head() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "1"], "hello"))
        harness.load()
        let answer = harness.load { $0.httpMethod = "HEAD" }
        #expect(answer.body == "" && answer.field("A") == "1")
        #expect(harness.transport.requests.count == 1)

        harness.clock.advance(by: 100)
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "2"]) }
        harness.load { $0.httpMethod = "HEAD" }
        let refreshed = harness.load()
        #expect(refreshed.source == .cache && refreshed.field("A") == "2")

        harness.clock.advance(by: 100)
        harness.transport.serve { _ in FakeReply(200, ["ETag": "\"2\""]) }
        harness.load { $0.httpMethod = "HEAD" }
        #expect(harness.store.all.isEmpty)
    }

    @Test(
        "a HEAD response also updates what a reload has not looked up",
        arguments: [
            URLRequest.CachePolicy.reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
        ])
    func reloadedHead(policy: URLRequest.CachePolicy) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "1"], "hello"))
        harness.load()
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "2"]) }
        harness.load { ($0.httpMethod, $0.cachePolicy) = ("HEAD", policy) }
        #expect(harness.load().field("A") == "2")
        harness.transport.serve { _ in FakeReply(200, ["ETag": "\"2\""]) }
        harness.load { ($0.httpMethod, $0.cachePolicy) = ("HEAD", policy) }
        #expect(harness.store.all.isEmpty)
    }

    @Test("a HEAD response or a 304 with no-store removes the entry, and writes nothing", arguments: ["HEAD", "GET"])
    func noStore(method: String) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "hello"))
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in
            FakeReply(method == "HEAD" ? 200 : 304, ["Cache-Control": "no-store", "ETag": "\"1\"", "A": "secret"])
        }
        harness.load {
            $0.httpMethod = method
            // With a condition of the caller, the 304 is not about the answer.
            if method == "GET" { $0.setValue("\"1\"", forHTTPHeaderField: "If-None-Match") }
        }
        #expect(harness.store.all.isEmpty && harness.store.updates == 0)
    }

    @Test("an answer to a range or a condition replaces no entry", arguments: [412, 416])
    func conditionFails(status: Int) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.transport.serve { _ in FakeReply(status, ["Cache-Control": "max-age=60"], "no") }
        harness.load {
            if status == 412 { $0.setValue("\"2\"", forHTTPHeaderField: "If-Match") }
            if status == 416 { $0.setValue("bytes=90-", forHTTPHeaderField: "Range") }
        }
        #expect(harness.transport.requests.count == 2)
        #expect(harness.load().body == "hello")
    }

    @Test("a HEAD leaves the beginning of an interrupted transfer, which has another length than the whole")
    func headOfPart() {
        let fields = ["ETag": "\"1\"", "Content-Length": "10", "Cache-Control": "max-age=60"]
        let harness = FetchHarness(FakeReply(200, fields, "01234"))
        #expect(harness.load().error != nil)
        harness.transport.serve { _ in FakeReply(200, fields) }
        harness.load { $0.httpMethod = "HEAD" }
        harness.transport.serve { _ in PartTests.part("5-9/10", "56789") }
        #expect(harness.load().body == "0123456789")
        #expect(harness.transport.requests.last?.value(forHTTPHeaderField: "Range") == "bytes=5-")
    }

    @Test("a caller's own validator is answered by the cache if the entry is fresh, and otherwise by the server")
    func conditional() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "hello"))
        harness.load()
        #expect(harness.load { $0.setValue("\"1\"", forHTTPHeaderField: "If-None-Match") }.status == 304)
        #expect(harness.load { $0.setValue("\"2\"", forHTTPHeaderField: "If-None-Match") }.body == "hello")
        #expect(harness.transport.requests.count == 1)

        harness.clock.advance(by: 100)
        harness.transport.serve { _ in FakeReply(304, ["ETag": "\"1\"", "Cache-Control": "max-age=60"]) }
        let events = harness.load { $0.setValue("\"0\", \"1\"", forHTTPHeaderField: "If-None-Match") }
        #expect(events.status == 304)
        #expect(harness.transport.requests.last?.value(forHTTPHeaderField: "If-None-Match") == "\"0\", \"1\"")
        #expect(harness.load().source == .cache, "the 304 freshened what is stored")

        harness.clock.advance(by: 100)
        harness.load {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
            $0.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
        }
        #expect(harness.load().source == .cache, "also that to a reload, which has not looked it up")
    }

    @Test("cookies bind a response if the caller set them, or if it is private")
    func cookies() {
        for (isOwn, control, isReused) in [
            (true, "max-age=60", false), (false, "max-age=60", true), (false, "private, max-age=60", false),
        ] {
            let harness = FetchHarness(FakeReply(200, ["Cache-Control": control], "hello"))
            for cookie in ["a=1", "a=2"] {
                harness.transport.imply(isOwn ? [:] : ["Cookie": cookie])
                harness.load { if isOwn { $0.setValue(cookie, forHTTPHeaderField: "Cookie") } }
            }
            #expect(harness.transport.requests.count == (isReused ? 1 : 2), "\(control)")
        }
    }
}
