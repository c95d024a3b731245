import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("A managed fetch", .bounded)
struct ManagedFetchTests {
    @Test("uses the network once, and answers from the cache until the lifetime has passed")
    func hit() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "hello"))
        #expect(harness.load().names == ["needsNetwork", "response", "received", "finished"])
        harness.clock.advance(by: 59)
        let second = harness.load()
        #expect(second.names == ["finished"])
        #expect(second.body == "hello" && second.source == .cache)
        #expect(second.field("Age") == "59")
        #expect(second.fetched?.freshUntil == harness.clock.now.addingTimeInterval(1))
        #expect(second.fetched?.trace.reason == "fresh: age 59 s of 60 s (max-age)")
        #expect(second.fetched?.trace.bytesSaved == 5)
        #expect(harness.transport.requests.count == 1)
    }

    @Test("sends nothing before it gets its slot")
    func waits() {
        let harness = FetchHarness(FakeReply(200, [:], "hello"))
        let events = harness.start(harness.request())
        #expect(events.names == ["needsNetwork"])
        #expect(harness.transport.requests.isEmpty)
        events.fetch?.proceed()
        events.fetch?.proceed()
        #expect(harness.transport.requests.count == 1)
        #expect(events.body == "hello")
    }

    @Test("validates a stale entry with both validators, and freshens it on a 304")
    func revalidation() {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        let harness = FetchHarness(
            FakeReply(
                200, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Last-Modified": modified, "A": "1"], "hello"))
        harness.load()
        harness.clock.advance(by: 61)
        harness.transport.serve { _ in FakeReply(304, ["ETag": "\"1\"", "A": "2"]) }
        let second = harness.load()
        let sent = harness.transport.requests.last
        #expect(sent?.value(forHTTPHeaderField: "If-None-Match") == "\"1\"")
        #expect(sent?.value(forHTTPHeaderField: "If-Modified-Since") == modified)
        #expect(second.names == ["needsNetwork", "finished"])
        #expect(second.body == "hello" && second.source == .revalidated)
        #expect(second.field("A") == "2")
        #expect(second.fetched?.trace.status == 304)
        #expect(second.fetched?.trace.validators == ["If-None-Match: \"1\"", "If-Modified-Since: \(modified)"])
        #expect(harness.store.updates == 1)
        harness.clock.advance(by: 59)
        #expect(harness.load().source == .cache)
    }

    @Test("does not take the late events of a transfer for those of the next one")
    func late() throws {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "old"))
        harness.load()
        harness.clock.advance(by: 61)
        harness.transport.hold()
        let events = harness.load()
        let late = try #require(harness.transport.held.first?.late)
        // The 304 confirms another response, so the request is sent again.
        harness.transport.release(FakeReply(304, ["ETag": "\"2\""]))
        #expect(harness.transport.requests.count == 3)
        late(.data(Data("late".utf8)))
        late(.finished(nil))
        #expect(events.result == nil)
        harness.transport.release(FakeReply(200, [:], "new"))
        #expect(events.body == "new")
        #expect(harness.transport.requests.count == 3)
    }

    @Test("replaces a stale entry with a full response")
    func replaced() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "one"))
        harness.load()
        harness.clock.advance(by: 61)
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"2\""], "two") }
        #expect(harness.load().body == "two")
        #expect(harness.store.bodies == ["two"])
    }

    @Test("sends the request again without conditions if a 304 matches no entry")
    func mismatch() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "one"))
        harness.load()
        harness.clock.advance(by: 61)
        harness.transport.serve { request in
            request.value(forHTTPHeaderField: "If-None-Match") == nil
                ? FakeReply(200, ["ETag": "\"2\""], "two") : FakeReply(304, ["ETag": "\"2\""])
        }
        #expect(harness.load().body == "two")
        #expect(harness.transport.requests.count == 3)
    }

    @Test("is answered by the entry that a 304 confirms, which a 304 with another strong validator does not update")
    func unidentified() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "W/\"1\""], "one"))
        harness.load()
        harness.clock.advance(by: 61)
        harness.transport.serve { _ in FakeReply(304, ["Cache-Control": "max-age=60", "ETag": "\"1\"", "A": "1"]) }
        for requests in 2...3 {
            let events = harness.load()
            #expect(events.body == "one" && events.source == .revalidated && events.field("A") == nil)
            #expect(events.fetched?.freshUntil == .distantPast)
            #expect(harness.transport.requests.count == requests)
        }
        #expect(harness.store.updates == 0)
    }

    @Test("a response that is invalidated while the delegate decides is not stored", arguments: [true, false])
    func invalidatedMeanwhile(changesBody: Bool) {
        let fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
        let harness = FetchHarness(FakeReply(200, fields, "one"))
        harness.load()
        harness.clock.advance(by: 61)
        harness.transport.serve { _ in FakeReply(304, fields) }
        harness.store.beforeChange { [fetcher = harness.fetcher] in fetcher.removeAllStored() }
        harness.transport.decide {
            changesBody ? CachedURLResponse(response: $0.response, data: Data("other".utf8)) : $0
        }
        let events = harness.load()
        #expect(events.body == "one" && events.fetched?.freshUntil == .distantPast)
        #expect(harness.store.all.isEmpty)
    }

    @Test("a response that is removed in flight is not stored, and a removal in flight removes nothing newer")
    func removedMeanwhile() {
        let harness = FetchHarness()
        harness.transport.hold()
        let events = harness.load()
        harness.fetcher.removeAllStored()
        harness.transport.release(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        #expect(events.body == "hello" && events.fetched?.freshUntil == .distantPast)
        #expect(harness.store.all.isEmpty)
        harness.transport.hold(false)
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60"], "new") }
        #expect(harness.load().body == "new")
        #expect(harness.store.bodies == ["new"])
    }

    @Test("asks the network when the stored body is gone")
    func lostBody() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.store.loseBodies()
        let second = harness.load()
        #expect(second.body == "hello" && second.source == .network)
    }

    @Test("fails for a status outside 200–299, with the response's body, stored or not")
    func statusError() {
        let harness = FetchHarness(FakeReply(404, ["Cache-Control": "max-age=60"], "no such thing"))
        for source in [LoadSource.network, .cache] {
            let events = harness.load()
            #expect(events.status == 404)
            #expect(events.error?.context.body == Data("no such thing".utf8))
            #expect(events.error?.context.trace.source == source)
        }
        #expect(harness.transport.requests.count == 1)
    }

    @Test("gives an empty body for a success without one")
    func emptyBody() {
        let harness = FetchHarness(FakeReply(204, ["Cache-Control": "max-age=60"]))
        for _ in 1...2 {
            let fetched = harness.load().fetched
            #expect(fetched?.body.isEmpty == true && fetched?.response.status == 204)
        }
        #expect(harness.transport.requests.count == 1)
    }

    @Test("does not take what has no HTTP scheme for HTTP", arguments: ["ftp://a.example/x", "mailto:a@b.example"])
    func otherSchemes(url: String) {
        let harness = FetchHarness(FakeReply(200, [:], "hello"))
        harness.load(url).expectUnsupportedScheme(of: url)
        #expect(harness.transport.requests.isEmpty)
    }

    @Test("loads file and data URLs through the transport, without the cache", arguments: ["file:///x", "data:,hello"])
    func withoutCache(url: String) {
        let harness = FetchHarness(FakeReply(200, [:], "hello"))
        for _ in 1...2 { #expect(harness.load(url).body == "hello") }
        #expect(harness.transport.requests.count == 2)
        #expect(harness.store.lookups == 0)
    }

    @Test("removes the entries of a request, and all entries")
    func removing() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.load("http://a.example/y")
        harness.fetcher.removeStored(for: harness.request("HTTP://A.example:80/x#top"), body: nil)
        #expect(harness.store.all.map(\.url) == ["http://a.example/y"])
        harness.fetcher.removeAllStored()
        #expect(harness.store.all.isEmpty)
    }

    @Test("works without a store")
    func noStore() {
        let transport = FakeTransport()
        transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60"], "hello") }
        let fetcher = ManagedFetcher(transport: transport, store: nil, time: ManualClock())
        let events = Events()
        let request = URLRequest(url: URL(fileURLWithPath: "/x"))
        events.fetch = fetcher.fetch(request, options: FetchOptions(maximumBodySize: 100)) { events.note($0) }
        events.fetch?.proceed()
        #expect(events.body == "hello")
    }

    @Test("a transfer ends although the network is on again by then: its request is sent again, unless it is unsafe")
    func interruptedLate() {
        let harness = FetchHarness(FakeReply(200, [:], "hello"))
        for method in ["GET", "POST"] {
            harness.transport.hold()
            let events = harness.load { $0.httpMethod = method }
            harness.transport.hold(false)
            harness.transport.interrupt()
            if method == "GET" {
                #expect(events.body == "hello")
            } else if case .notCached? = events.error {
            } else {
                Issue.record("\(String(describing: events.result))")
            }
        }
        #expect(harness.transport.requests.map(\.httpMethod) == ["GET", "GET", "POST"])
    }

    @Test("a load that waited for the network after a miss looks again when the network is switched off")
    func missedBeforeOffline() {
        let (store, transport, network) = (FakeStore(), FakeTransport(), NetworkSwitch())
        let clock = ManualClock()
        let fetcher = ManagedFetcher(
            transport: transport, store: store, time: clock, rules: CacheRules(), network: network)
        transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60"], "hello") }
        let request = FetchHarness().request()
        let other = Events()
        other.fetch = fetcher.fetch(request, options: FetchOptions(maximumBodySize: 100)) { other.note($0) }
        other.fetch?.proceed()
        network.set(isOffline: true)
        var options = FetchOptions(maximumBodySize: 100)
        options.purpose = .sendAfterMiss
        let events = Events()
        events.fetch = fetcher.fetch(request, options: options) { events.note($0) }
        #expect(events.body == "hello" && events.source == .cache)
    }
}
