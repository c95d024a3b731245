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
}
