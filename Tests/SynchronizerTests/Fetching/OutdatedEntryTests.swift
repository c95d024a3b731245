import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

/// RFC 9111 §4.3.3: a full response says that none of the stored responses is suitable.
@Suite("A stored response that the server no longer sends", .bounded)
struct OutdatedEntryTests {
    private static let fresh = FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "old")

    @Test(
        "is removed if the newer response is not stored",
        arguments: [
            FakeReply(200, ["Cache-Control": "no-store"], "new"), FakeReply(200, ["Vary": "*"], "new"),
            FakeReply(403, ["Cache-Control": "no-store"]), FakeReply(410, ["Cache-Control": "no-store"]),
            FakeReply(404, ["Cache-Control": "no-store"]), FakeReply(308, ["Cache-Control": "no-store"]),
        ])
    func removed(reply: FakeReply) {
        for reloads in [false, true] {
            let harness = FetchHarness(Self.fresh)
            harness.load()
            if !reloads { harness.clock.advance(by: 100) }
            harness.transport.serve { _ in reply }
            harness.load { if reloads { $0.cachePolicy = .reloadIgnoringLocalCacheData } }
            #expect(harness.store.all.isEmpty, "\(reloads)")
            harness.transport.serve { _ in .failure(.notConnectedToInternet) }
            #expect(harness.load().body == nil)
        }
    }

    @Test(
        "stays after a response that says nothing about the resource",
        arguments: [302, 401, 407, 408, 412, 416, 429, 500])
    func kept(status: Int) {
        let harness = FetchHarness(Self.fresh)
        harness.load()
        harness.transport.serve { _ in FakeReply(status, ["Cache-Control": "no-store"]) }
        harness.load { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        #expect(harness.store.all.count == 1)
    }

    @Test("stays if it answers other requests, or the request says no-store")
    func others() {
        let fields = ["Cache-Control": "max-age=60", "Vary": "A"]
        let harness = FetchHarness(FakeReply(200, fields, "old"))
        harness.load { $0.setValue("1", forHTTPHeaderField: "A") }
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "no-store", "Vary": "A"], "new") }
        harness.load { $0.setValue("2", forHTTPHeaderField: "A") }
        #expect(harness.store.all.count == 1)
        harness.load {
            $0.setValue("1", forHTTPHeaderField: "A")
            $0.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        }
        #expect(harness.store.all.count == 1)
    }

    @Test("is not shown again and again while it is revalidated")
    func staleWhileRevalidate() async throws {
        let old = ["Cache-Control": "max-age=10, stale-while-revalidate=86400"]
        let harness = FetchHarness(FakeReply(200, old, "old"))
        harness.load()
        harness.clock.advance(by: 20)
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "no-store"], "new") }
        #expect(harness.load().body == "old")
        try await waitUntil("the refresh has ended") { harness.store.all.isEmpty }
        #expect(harness.load().body == "new")
    }
}
