import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// A native fetcher over a played session, with a clock that is moved by hand.
struct NativeHarness {
    let clock = ManualClock()
    let session: PlayedSession
    let fetcher: NativeFetcher
    let network = NetworkSwitch()

    /// - Parameter server: its answers get a `Date`.
    init(cacheTime: TimeInterval? = nil, _ server: @escaping FakeTransport.Server = { _ in FakeReply(500) }) {
        let session = PlayedSession(cacheTime: cacheTime, time: clock)
        self.session = session
        fetcher = Self.fetcher(session, clock, network)
        serve(server)
    }

    func serve(_ server: @escaping FakeTransport.Server) {
        session.network.serve { [clock] request in
            var reply = server(request)
            reply.fields["Date"] = HTTPDate.format(clock.now)
            return reply
        }
    }

    init(cacheTime: TimeInterval? = nil, _ reply: FakeReply) {
        self.init(cacheTime: cacheTime) { _ in reply }
    }

    static func fetcher(
        _ session: PlayedSession, _ clock: ManualClock, _ network: NetworkSwitch = NetworkSwitch()
    ) -> NativeFetcher {
        NativeFetcher(
            transport: session, cache: session.cache, time: clock, injection: session.injection, network: network)
    }

    /// A synchronizer over the session, with the retries of the default.
    func synchronizer() -> Synchronizer {
        var configuration = Synchronizer.Configuration(urlCache: session.cache)
        configuration.time = clock
        return Synchronizer(configuration: configuration, fetcher: fetcher, network: network)
    }

    func request(_ change: (inout URLRequest) -> Void = { _ in }) -> URLRequest {
        var request = URLRequest(url: FetchHarness().request().url ?? URL(fileURLWithPath: "/"))
        change(&request)
        return request
    }

    /// A fetch that has not got its turn.
    func start(_ change: (inout URLRequest) -> Void = { _ in }) -> Events {
        let events = Events()
        events.fetch = fetcher.fetch(request(change), options: FetchOptions(maximumBodySize: 1 << 20)) {
            events.note($0)
        }
        return events
    }

    /// What was to be removed has been asked of the cache.
    func finishRemovals() { fetcher.cache.removing.sync {} }

    @discardableResult
    func load(_ change: (inout URLRequest) -> Void = { _ in }) -> Events {
        let events = start(change)
        events.fetch?.proceed()
        return events
    }
}

@Suite("In native mode", .bounded)
struct NativeFetchTests {
    static let lifetime = ["Cache-Control": "max-age=100"]

    /// A server that tells who asks.
    static func whoAsks(_ fields: [String: String] = lifetime) -> FakeTransport.Server {
        { FakeReply(200, fields, $0.value(forHTTPHeaderField: "Authorization") ?? "nobody") }
    }

    @Test("the lifetime that the delegate puts in holds for memory, too: what the library began with")
    func seed() async throws {
        let harness = NativeHarness(cacheTime: 100, FakeReply(200, [:], "hello"))
        let synchronizer = harness.synchronizer()
        let resource = DataResource(request: harness.request())
        #expect(try await synchronizer.loaded(resource).source == .network)
        #expect(try await synchronizer.loaded(resource).source == .memory)
        harness.clock.advance(by: 101)
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("what comes out of the session's cache is as old as it is")
    func age() {
        let harness = NativeHarness(cacheTime: 100, FakeReply(200, [:], "hello"))
        let end = harness.clock.now.addingTimeInterval(100)
        #expect(harness.load().fetched?.freshUntil == end)
        harness.clock.advance(by: 60)
        let second = harness.load()
        #expect(second.source == .cache)
        #expect(second.fetched?.freshUntil == end)
        #expect(second.fetched?.trace.lifetimeRule == LifetimeRule.injected.rawValue)
    }

    @Test("a hit needs no turn on the network")
    func hit() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "hello"))
        #expect(harness.load().names == ["needsNetwork", "response", "received", "finished"])
        let second = harness.start()
        #expect(second.names == ["finished"])
        #expect(second.body == "hello")
        #expect(harness.session.asked.count == 1)
    }

    @Test("a hit that is no longer there when the session looks waits for its turn")
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

    @Test("what the server confirms is told from what it sends")
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

    @Test("what must not use the network and is not stored fails at once, and is not tried again")
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

    @Test("what vanishes between look-up and answer is not cached, for who must not use the network")
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

    // MARK: - Whose answer

    @Test(
        "an answer to one token is not given to another, nor to nobody; to the same it is",
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

    @Test("an answer to another that is stored between look-up and answer is not used")
    func race() {
        let harness = NativeHarness(Self.whoAsks())
        let slow = harness.start { $0.setValue("one", forHTTPHeaderField: "Authorization") }
        harness.load { $0.setValue("two", forHTTPHeaderField: "Authorization") }
        slow.fetch?.proceed()
        #expect(slow.body == "one")
        #expect(slow.source == .network)
        #expect(slow.names.filter { $0 == "needsNetwork" }.count == 1)
    }

    @Test("an answer that is marked as private is for those who send the same cookies")
    func cookies() {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "private, max-age=100"], "hello"))
        harness.session.network.imply(["Cookie": "user=one"])
        harness.load()
        #expect(harness.load().source == .cache)
        harness.session.network.imply(["Cookie": "user=two"])
        #expect(harness.load().source == .network)
    }

    @Test("what others have stored answers no request with credentials, and none that Vary may tell apart")
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

    @Test("what a redirect leads to, on another origin and without the token, comes out of the cache for anybody")
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

    @Test("what is stored is told")
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
        let shown = harness.start().fetch?.storedMeanwhile()
        #expect((shown != nil) == isShown)
        #expect(shown.map { $0.trace.source == .stale } ?? true)
    }

    @Test("nothing is shown meanwhile that is for another, or varies by what the request says")
    func meanwhileOfAnother() {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=1", "Vary": "Accept"], "hello"))
        harness.load { $0.setValue("one", forHTTPHeaderField: "Authorization") }
        harness.clock.advance(by: 50)
        #expect(harness.start().fetch?.storedMeanwhile() == nil)
        let same = harness.start { $0.setValue("one", forHTTPHeaderField: "Authorization") }
        #expect(same.fetch?.storedMeanwhile() != nil)
        let other = harness.start {
            $0.setValue("one", forHTTPHeaderField: "Authorization")
            $0.setValue("image/webp", forHTTPHeaderField: "Accept")
        }
        #expect(other.fetch?.storedMeanwhile() == nil)
    }

    // MARK: - Made invalid

    @Test("what was made invalid is not used, though the cache has not removed it yet")
    func invalidated() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "old"))
        harness.load()
        harness.session.cache.removeLate(true)
        harness.fetcher.removeStoredSoon(for: [harness.request()])
        harness.finishRemovals()
        harness.serve { _ in FakeReply(200, Self.lifetime, "new") }
        #expect(harness.start { $0.cachePolicy = .returnCacheDataDontLoad }.fetched == nil)
        for _ in 1...2 {
            let next = harness.load()
            #expect(next.body == "new")
            #expect(next.source == .network)
            harness.finishRemovals()
        }
        // The next look-up has it removed, what is new along with it: the cache does not tell one from the other.
        harness.session.cache.removeLate(false)
        harness.fetcher.cache.removing.suspend()
        harness.load()
        harness.fetcher.cache.removing.resume()
        harness.finishRemovals()
        #expect(harness.session.cache.all.isEmpty)
        #expect(harness.load().source == .network)
        #expect(harness.load().source == .cache)
    }

    @Test("what the cache has removed by itself meanwhile is not waited for")
    func removedMeanwhile() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "old"))
        harness.load()
        harness.session.cache.removeLate(true)
        harness.fetcher.removeStoredSoon(for: [harness.request()])
        harness.finishRemovals()
        harness.session.cache.removeAllCachedResponses()
        #expect(harness.load().source == .network)
        #expect(harness.load().source == .cache)
    }

    @Test("what was under way when its URL was made invalid is not stored", arguments: [false, true])
    func invalidatedUnderWay(isAll: Bool) {
        let harness = NativeHarness()
        harness.session.network.hold()
        let load = harness.load()
        if isAll {
            harness.fetcher.removeAllStored()
        } else {
            harness.fetcher.removeStoredSoon(for: [harness.request()])
        }
        harness.session.network.release(FakeReply(200, Self.lifetime, "old"))
        #expect(load.body == "old")
        #expect(harness.session.cache.all.isEmpty)
    }

    @Test("what a delegate of its own lets be stored though it was made invalid is removed at the end")
    func removedAtTheEnd() {
        let harness = NativeHarness()
        harness.session.bypassesDelegate.withLock { $0 = true }
        harness.session.network.hold()
        let load = harness.load()
        harness.fetcher.removeStoredSoon(for: [harness.request()])
        harness.session.network.release(FakeReply(200, Self.lifetime, "old"))
        #expect(load.body == "old")
        #expect(harness.start { $0.cachePolicy = .returnCacheDataDontLoad }.fetched == nil)
        harness.finishRemovals()
        #expect(harness.session.cache.all.isEmpty)
    }

    @Test("an answer to an unsafe method makes invalid what is stored")
    func unsafe() {
        let harness = NativeHarness(FakeReply(200, Self.lifetime, "old"))
        harness.load()
        harness.session.cache.removeLate(true)
        harness.load { $0.httpMethod = "POST" }
        #expect(harness.load().source == .network)
    }
}
