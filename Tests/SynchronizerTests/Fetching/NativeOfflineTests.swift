import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("In native mode, offline", .bounded)
struct NativeOfflineTests {
    private func isNotCached(_ events: Events) -> Bool {
        if case .notCached? = events.error { true } else { false }
    }

    @Test("every stored response answers, whatever the cache policy", arguments: [0, 1, 4, 2, 3, 5])
    func stored(policy: UInt) throws {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=10", "ETag": "\"1\""], "hello"))
        harness.load()
        harness.clock.advance(by: 1_000)
        harness.network.set(isOffline: true)
        let policy = try #require(URLRequest.CachePolicy(rawValue: policy))
        #expect(harness.load { $0.cachePolicy = policy }.body == "hello")
        #expect(harness.session.asked.count == 1)
    }

    @Test("nothing else is asked for")
    func nothing() {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=10"], "hello"))
        let waiting = harness.start()
        harness.network.set(isOffline: true)
        waiting.fetch?.proceed()
        #expect(isNotCached(waiting) && isNotCached(harness.load()))
        #expect(isNotCached(harness.load { $0.httpMethod = "POST" }))
        #expect(harness.session.asked.isEmpty)
    }

    @Test("a transfer in flight ends, and the stored response answers", arguments: [false, true])
    func inFlight(isStored: Bool) {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=10"], "hello"))
        if isStored { harness.load() }
        harness.clock.advance(by: 1_000)
        harness.session.network.hold()
        let events = harness.load()
        #expect(events.result == nil)
        harness.network.set(isOffline: true)
        #expect(isStored ? events.body == "hello" : isNotCached(events))
    }

    @Test("a transfer ends although the network is on again by then: its request is sent again, unless it is unsafe")
    func interruptedLate() {
        let harness = NativeHarness(FakeReply(200, [:], "hello"))
        for method in ["GET", "POST"] {
            harness.session.network.hold()
            let events = harness.load { $0.httpMethod = method }
            harness.session.network.hold(false)
            harness.session.interrupt()
            #expect(method == "GET" ? events.body == "hello" : isNotCached(events))
        }
        #expect(harness.session.asked.map(\.httpMethod) == ["GET", "GET", "POST"])
    }

    @Test("a file that the session reads is read again, because it needs no network")
    func file() {
        let harness = NativeHarness(FakeReply(200, [:], "hello"))
        harness.session.network.hold()
        let events = harness.load { $0.url = URL(fileURLWithPath: "/x") }
        harness.network.set(isOffline: true)
        #expect(harness.session.asked.count == 2 && events.result == nil)
    }

    /// A session that switches the network on when it is asked for the fields of a request.
    private struct Reconnecting: NativeTransport {
        let session: PlayedSession
        let network: NetworkSwitch

        func interrupt() { session.interrupt() }

        func sessionHeaders(for request: URLRequest) -> [String: String] {
            network.set(isOffline: false)
            return session.sessionHeaders(for: request)
        }

        func perform(
            _ request: URLRequest, cacheTime: TimeInterval?, receive: @escaping @Sendable (NativeEvent) -> Void
        ) -> any Cancellable {
            session.perform(request, cacheTime: cacheTime, receive: receive)
        }
    }

    @Test("a fetch that has its slot keeps it if the network comes back during its lookup")
    func reconnecting() {
        let harness = NativeHarness(FakeReply(200, [:], "hello"))
        let fetcher = NativeFetcher(
            transport: Reconnecting(session: harness.session, network: harness.network), cache: harness.session.cache,
            time: harness.clock, network: harness.network)
        let events = Events()
        events.fetch = fetcher.fetch(harness.request(), options: FetchOptions(maximumBodySize: 100)) { events.note($0) }
        harness.network.set(isOffline: true)
        events.fetch?.proceed()
        #expect(events.body == "hello")
        #expect(events.names.count { $0 == "needsNetwork" } == 1)
    }
}
