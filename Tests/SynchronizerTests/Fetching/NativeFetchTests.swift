import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("In native mode", .bounded)
struct NativeFetchTests {
    static let lifetime = ["Cache-Control": "max-age=100"]

    /// A server that tells who asks.
    static func whoAsks(_ fields: [String: String] = lifetime) -> FakeTransport.Server {
        { FakeReply(200, fields, $0.value(forHTTPHeaderField: "Authorization") ?? "nobody") }
    }

    @Test("the lifetime that the delegate injects also applies to memory")
    func seed() async throws {
        let harness = NativeHarness(cacheTime: 100, FakeReply(200, [:], "hello"))
        let synchronizer = harness.synchronizer()
        let resource = DataResource(request: harness.request())
        #expect(try await synchronizer.loaded(resource).source == .network)
        #expect(try await synchronizer.loaded(resource).source == .memory)
        harness.clock.advance(by: 101)
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("a response from the session's cache has the age that its Date says")
    func age() {
        let harness = NativeHarness(cacheTime: 100, FakeReply(200, [:], "hello"))
        let end = harness.clock.now.addingTimeInterval(100)
        #expect(harness.load().fetched?.freshUntil == end)
        harness.clock.advance(by: 60)
        let second = harness.load()
        #expect(second.source == .cache)
        #expect(second.fetched?.freshUntil == end)
        #expect(second.fetched?.trace.lifetimeRule == LifetimeRule.injected.name)
    }

    @Test("a stored answer to a range or a condition answers no other request", arguments: [412, 416])
    func conditionFails(status: Int) {
        let harness = NativeHarness(FakeReply(status, Self.lifetime, "no"))
        harness.load { $0.setValue("bytes=90-", forHTTPHeaderField: "Range") }
        harness.serve { _ in FakeReply(200, Self.lifetime, "hello") }
        #expect(harness.load().body == "hello")
    }

    @Test("a part is a success only if a range was requested")
    func unaskedPart() {
        let harness = NativeHarness(FakeReply(206, ["Content-Range": "bytes 0-4/10"], "hello"))
        #expect(harness.load().status == 206)
        #expect(harness.load { $0.setValue("bytes=0-4", forHTTPHeaderField: "Range") }.body == "hello")
    }

    @Test("does not take what has no HTTP scheme for HTTP", arguments: ["ftp://a.example/x", "mailto:a@b.example"])
    func otherSchemes(url: String) {
        let harness = NativeHarness(FakeReply(200, [:], "hello"))
        harness.load { $0.url = URL(string: url) }.expectUnsupportedScheme(of: url)
        #expect(harness.session.asked.isEmpty)
    }

    @Test("a hit needs no network slot")
    func hit() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "hello"))
        #expect(harness.load().names == ["needsNetwork", "response", "received", "finished"])
        let second = harness.start()
        #expect(second.names == ["finished"])
        #expect(second.body == "hello")
        #expect(harness.session.asked.count == 1)
    }

    @Test("a hit that the session no longer finds waits for a slot")
    func evicted() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "hello"))
        harness.load()
        harness.session.forgetsOnce()
        let second = harness.start()
        #expect(second.names == ["needsNetwork"])
        second.fetch?.proceed()
        #expect(second.body == "hello")
        #expect(harness.session.asked.count == 2)
    }

    @Test("a confirmed response is told apart from one that the server sent")
    func revalidated() {
        let harness = NativeHarness(cacheTime: 100) { request in
            request.value(forHTTPHeaderField: "If-None-Match") == nil
                ? FakeReply(200, ["ETag": "\"1\""], "hello") : FakeReply(304, ["ETag": "\"1\""])
        }
        harness.load()
        harness.clock.advance(by: 200)
        let second = harness.load()
        #expect(second.source == .revalidated)
        #expect(second.body == "hello")
        #expect(second.fetched?.freshUntil == harness.clock.now.addingTimeInterval(100))
        #expect(second.field("Cache-Control") == nil)
        harness.clock.advance(by: 50)
        #expect(harness.load().source == .cache)
    }

    // MARK: - Offline

    @Test("a miss that must not use the network fails at once, and is not retried")
    func offlineMiss() async throws {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "hello"))
        let synchronizer = harness.synchronizer()
        let resource = DataResource(request: harness.request { $0.cachePolicy = .returnCacheDataDontLoad })
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
        guard case .notCached? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(harness.session.asked.isEmpty)
        harness.load()
        harness.clock.advance(by: 1_000)
        #expect(try await synchronizer.loaded(resource).source == .cache)
        #expect(harness.session.asked.count == 1)
    }

    @Test(
        "that the session has nothing is no failure of the network",
        arguments: [
            URLError.Code.resourceUnavailable, .cannotLoadFromNetwork,
        ])
    func sessionHasNothing(code: URLError.Code) {
        let harness = NativeHarness(FakeReply.failure(code))
        guard case .notCached? = harness.load().error else {
            Issue.record("not .notCached")
            return
        }
    }

    @Test("an entry that vanishes after the lookup is .notCached for a load that must not use the network")
    func vanished() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "hello"))
        harness.load()
        harness.session.forgetsOnce()
        guard case .notCached? = harness.start({ $0.cachePolicy = .returnCacheDataDontLoad }).error else {
            Issue.record("not .notCached")
            return
        }
        #expect(harness.session.asked.count == 1)
    }

    @Test("a body that is incomplete or too large is not stored, and the next trace says so", arguments: [false, true])
    func notStored(isTooLarge: Bool) {
        let harness = NativeHarness { _ in
            let body = isTooLarge ? String(repeating: "a", count: 2 << 20) : "hello"
            let length = isTooLarge ? "\(2 << 20)" : "9"
            return FakeReply(200, Self.lifetime.merging(["Content-Length": length]) { $1 }, body)
        }
        let reason = isTooLarge ? ResponseStoring.Reason.tooLarge : .incomplete
        let events = harness.load()
        let trace = events.error?.context.trace
        #expect(events.all.contains { if case .notStored(reason) = $0 { true } else { false } })
        #expect(trace?.storing == .notStored(reason) && trace?.status == 200)
        guard isTooLarge else { return }  // the played session also stores incomplete bodies
        harness.serve { _ in FakeReply(200, Self.lifetime, "hello") }
        #expect(harness.load().fetched?.trace.reason.hasSuffix("not stored: \(reason.rawValue)") == true)
    }

    // MARK: - Whose answer

    @Test(
        "a response to one token answers neither another token nor none; it answers the same token",
        arguments: ["Authorization", "X-Api-Key", "Cookie"],
        [URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad])
    func tokens(field: String, policy: URLRequest.CachePolicy) {
        let harness = NativeHarness { FakeReply(200, Self.lifetime, $0.value(forHTTPHeaderField: field) ?? "nobody") }
        for (token, source) in [
            ("one", LoadSource.network), (nil, .network), ("two", .network), ("one", .network), ("one", .cache),
        ] {
            let load = harness.load {
                $0.cachePolicy = policy
                $0.setValue(token, forHTTPHeaderField: field)
            }
            #expect(load.body == token ?? "nobody")
            #expect(load.source == source)
        }
    }

    @Test("a response to another request that is stored after the lookup is not used")
    func race() {
        let harness = NativeHarness(Self.whoAsks())
        let slow = harness.start { $0.setValue("one", forHTTPHeaderField: "Authorization") }
        harness.load { $0.setValue("two", forHTTPHeaderField: "Authorization") }
        slow.fetch?.proceed()
        #expect(slow.body == "one")
        #expect(slow.source == .network)
        #expect(slow.names.filter { $0 == "needsNetwork" }.count == 1)
    }

    @Test("a private response answers only requests with the same cookies")
    func cookies() {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "private, max-age=100"], "hello"))
        harness.session.network.imply(["Cookie": "user=one"])
        harness.load()
        #expect(harness.load().source == .cache)
        harness.session.network.imply(["Cookie": "user=two"])
        #expect(harness.load().source == .network)
    }

    @Test("an entry of another user of the cache answers no request with credentials, and none if it has Vary")
    func foreign() {
        let harness = NativeHarness(Self.whoAsks())
        harness.session.bypassesDelegate.withLock { $0 = true }
        harness.load()
        #expect(harness.load().source == .cache)
        #expect(harness.load { $0.setValue("one", forHTTPHeaderField: "Authorization") }.body == "one")
        let varying = NativeHarness(FakeReply(200, Self.lifetime.merging(["Vary": "Accept"]) { $1 }, "hello"))
        varying.session.bypassesDelegate.withLock { $0 = true }
        varying.load()
        #expect(varying.load().source == .network)
    }

    @Test("the target of a redirect to another origin, requested without the token, is a hit for all requests")
    func redirected() {
        let harness = NativeHarness { request in
            request.url?.host == "a.example"
                ? FakeReply(302, ["Location": "http://b.example/y"])
                : FakeReply(200, Self.lifetime, request.value(forHTTPHeaderField: "Authorization") ?? "nobody")
        }
        for _ in 1...2 {
            let load = harness.load { $0.setValue("one", forHTTPHeaderField: "Authorization") }
            #expect(load.body == "nobody")
            #expect(load.fetched?.trace.redirects.map(\.absoluteString) == ["http://b.example/y"])
        }
        #expect(harness.session.asked.compactMap { $0.url?.host } == ["a.example", "b.example", "a.example"])
    }

    // MARK: - What callers see

    @Test("callers see the response as the server sent it, from the network and from the cache")
    func serverFields() {
        let harness = NativeHarness(cacheTime: 100, FakeReply(200, ["X-Server": "1"], "hello"))
        for source in [LoadSource.network, .cache] {
            let load = harness.load()
            #expect(load.source == source)
            #expect(load.field("X-Server") == "1")
            #expect(load.field("Cache-Control") == nil)
            #expect(load.field(CacheBindingHeader.fieldName) == nil)
        }
        let stored = harness.session.cache.all.compactMap { $0.response as? HTTPURLResponse }
        #expect(stored.map { $0.value(forHTTPHeaderField: "Cache-Control") } == ["max-age=100"])
    }

    @Test("a mark that the server sends is of no use to it")
    func forgedMark() {
        let reply = FakeReply(
            200, Self.lifetime.merging([CacheBindingHeader.fieldName: "anyone max-age=100"]) { $1 }, "hello")
        let harness = NativeHarness(reply)
        #expect(harness.load { $0.setValue("one", forHTTPHeaderField: "Authorization") }.body == "hello")
        #expect(harness.load().source == .network)
        #expect(harness.session.asked.count < 6)
    }

    @Test("a trace says that the response was stored")
    func stored() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "hello"))
        let bytes = harness.load().all.compactMap { if case .stored(let bytes) = $0 { bytes } else { nil } }
        #expect(bytes == [5])
    }

    // MARK: - Shown meanwhile

    @Test(
        "what is stale is shown while the server is asked, if it may be",
        arguments: [
            ("max-age=1", true), ("max-age=1, must-revalidate", false), ("no-cache", false),
            ("private, max-age=1", true),
        ])
    func meanwhile(control: String, isShown: Bool) {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": control], "hello"))
        harness.load()
        harness.clock.advance(by: 50)
        let shown = harness.start().fetch?.provisional()
        #expect((shown != nil) == isShown)
        #expect(shown.map { $0.trace.source == .stale } ?? true)
    }

    @Test("no entry of another request is shown during a revalidation, and none that varies by the request")
    func meanwhileOfAnother() {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=1", "Vary": "Accept"], "hello"))
        harness.load { $0.setValue("one", forHTTPHeaderField: "Authorization") }
        harness.clock.advance(by: 50)
        #expect(harness.start().fetch?.provisional() == nil)
        let same = harness.start { $0.setValue("one", forHTTPHeaderField: "Authorization") }
        #expect(same.fetch?.provisional() != nil)
        let other = harness.start {
            $0.setValue("one", forHTTPHeaderField: "Authorization")
            $0.setValue("image/webp", forHTTPHeaderField: "Accept")
        }
        #expect(other.fetch?.provisional() == nil)
    }

}
