import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("An incomplete response", .bounded)
struct IncompleteTests {
    @Test("is an error and leaves the store as it was", arguments: [URLError.Code.networkConnectionLost, .unknown])
    func reset(code: URLError.Code) {
        let harness = FetchHarness()
        harness.transport.serve { _ in
            var reply = FakeReply(200, ["Cache-Control": "max-age=60", "Content-Length": "10"], "hello")
            reply.error = URLError(code)
            return reply
        }
        #expect(harness.load().transportError == code)
        #expect(harness.store.all.isEmpty)
    }

    @Test("is detected by its length, even if the transport reports success")
    func cutShort() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "Content-Length": "10"], "hello"))
        #expect(harness.load().transportError == .networkConnectionLost)
        #expect(harness.store.all.isEmpty)
    }

    @Test("is not judged by its length where a content coding was decoded")
    func coded() {
        let fields = ["Cache-Control": "max-age=60", "Content-Length": "10", "Content-Encoding": "gzip"]
        let harness = FetchHarness(FakeReply(200, fields, "hello"))
        #expect(harness.load().body == "hello")
        #expect(harness.store.all.count == 1)
    }

    @Test("because it is too large fails as soon as that is known, and the transfer is cancelled")
    func tooLarge() {
        for fields in [[:], ["Content-Length": "12"]] {
            let harness = FetchHarness()
            harness.transport.serve { _ in
                var reply = FakeReply(200, fields.merging(["Cache-Control": "max-age=60"]) { $1 })
                reply.chunks = [Data("hello ".utf8), Data("world!".utf8)]
                return reply
            }
            harness.transport.hold()
            let events = harness.load(harness.request(), limit: 11)
            var reply = FakeReply(200, fields)
            reply.chunks = [Data("hello ".utf8), Data("world!".utf8)]
            harness.transport.release(reply)
            guard case .tooLarge(let limit, _)? = events.error else {
                Issue.record("not an error")
                return
            }
            #expect(limit == 11)
            #expect(harness.transport.cancelled == 1)
            #expect(harness.store.all.isEmpty)
            harness.transport.hold(false)
            #expect(harness.load(harness.request(), limit: 12).body == "hello world!")
        }
    }

    @Test("because it is too large before its transfer is known is cancelled, too")
    func tooLargeAtOnce() {
        let harness = FetchHarness()
        harness.transport.serve { _ in
            var reply = FakeReply(200, [:])
            reply.chunks = [Data("hello world!".utf8)]
            reply.isEndless = true
            return reply
        }
        let events = harness.load(harness.request(), limit: 11)
        guard case .tooLarge? = events.error else {
            Issue.record("not an error")
            return
        }
        #expect(harness.transport.cancelled == 1)
    }

    @Test(
        "is completed for those with the same credential only, whatever field it is in",
        arguments: ["Authorization", "X-Api-Key"])
    func credentials(name: String) {
        let harness = FetchHarness()
        let fields = ["Cache-Control": "max-age=60", "Content-Length": "10", "ETag": "\"1\""]
        for (credential, isCompleted) in [("a", false), ("b", false), (nil, false), (nil, true)] as [(String?, Bool)] {
            harness.transport.serve { _ in FakeReply(200, fields, "hello") }
            harness.load { $0.setValue(credential, forHTTPHeaderField: name) }
            let range = harness.transport.requests.last?.value(forHTTPHeaderField: "Range")
            #expect(range == (isCompleted ? "bytes=5-" : nil))
        }
    }

    @Test("is not kept for a retry if everything was removed in the meantime")
    func removed() {
        let harness = FetchHarness()
        let fields = ["Cache-Control": "max-age=60", "Content-Length": "10", "ETag": "\"1\""]
        harness.transport.hold()
        harness.load()
        harness.fetcher.removeAllStored()
        harness.transport.release(FakeReply(200, fields, "hello"))
        harness.load()
        #expect(harness.transport.requests.last?.value(forHTTPHeaderField: "Range") == nil)
    }

    @Test("because it was cancelled is not stored, and nothing more is delivered")
    func cancelled() {
        let harness = FetchHarness()
        harness.transport.hold()
        let events = harness.load()
        events.fetch?.cancel()
        events.fetch?.cancel()
        #expect(harness.transport.cancelled == 1)
        harness.transport.release(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        #expect(events.names == ["needsNetwork"])
        #expect(harness.store.all.isEmpty)
    }

    @Test("because it was cancelled while the delegate decided is not stored")
    func cancelledWhileDeciding() {
        let harness = FetchHarness()
        harness.transport.hold()
        let events = harness.load()
        harness.transport.decide { proposed in
            events.fetch?.cancel()
            return proposed
        }
        harness.transport.release(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        #expect(events.names == ["needsNetwork", "response", "received"])
        #expect(harness.store.all.isEmpty)
    }

    @Test("because it was never begun sends nothing after a cancel")
    func cancelledBefore() {
        let harness = FetchHarness(FakeReply(200, [:], "hello"))
        let events = harness.start(harness.request())
        events.fetch?.cancel()
        events.fetch?.proceed()
        #expect(harness.transport.requests.isEmpty)
        #expect(events.names == ["needsNetwork"])
    }

    @Test("because the server sent a part without a range request fails")
    func unaskedPart() {
        let fields = ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-4/10"]
        let harness = FetchHarness(FakeReply(206, fields, "hello"))
        #expect(harness.load().status == 206)
    }
}
