import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Updates of a resource", .bounded)
struct UpdatesTests {
    let bench: Workbench
    let synchronizer: Synchronizer
    let parses = Locked(0)

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
    }

    /// An object that is told from another of the same bytes.
    final class Text: Sendable {
        let text: String
        init(_ text: String) { self.text = text }
    }

    struct TextResource: Resource {
        let url: URL
        let parses: Locked<Int>
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Text {
            { data in
                parses.withLock { $0 += 1 }
                return Text(String(decoding: data, as: UTF8.self))
            }
        }
    }

    var resource: TextResource { TextResource(url: bench.server.url("/a"), parses: parses) }

    func serve(_ text: String, etag: String) {
        bench.server["/a"] = Reply(text, fields: ["Cache-Control": "max-age=10", "ETag": etag]).conditional()
    }

    /// Has "old" stored, 20 seconds ago, with a lifetime of 10.
    func storeStale() async throws {
        serve("old", etag: "\"1\"")
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        synchronizer.removeAllObjects()
    }

    func all() async throws -> [ResourceUpdate<Text>] {
        var updates: [ResourceUpdate<Text>] = []
        for try await update in synchronizer.updates(of: resource) { updates.append(update) }
        return updates
    }

    @Test("after a miss there is one, the fresh object")
    func nothingStored() async throws {
        serve("new", etag: "\"1\"")
        let updates = try await all()
        #expect(updates.map(\.phase) == [.fresh])
        #expect(updates.map(\.object.text) == ["new"])
        #expect(updates[0].source == .network)
    }

    @Test("a fresh entry is the only update")
    func storedFresh() async throws {
        serve("old", etag: "\"1\"")
        _ = try await synchronizer.load(resource)
        synchronizer.removeAllObjects()
        let updates = try await all()
        #expect(updates.map(\.phase) == [.fresh])
        #expect(updates[0].source == .cache)
        #expect(bench.server.counts.requests == 1)
    }

    @Test("a fresh object in memory is the only update, and sends no request")
    func memory() async throws {
        serve("old", etag: "\"1\"")
        let loaded = try await synchronizer.load(resource)
        let updates = try await all()
        #expect(updates.map(\.phase) == [.fresh])
        #expect(updates[0].source == .memory)
        #expect(updates[0].object === loaded)
        #expect(bench.server.counts.requests == 1)
    }

    @Test("a stale entry comes first, then the server's response")
    func staleThenFresh() async throws {
        try await storeStale()
        let gate = Gate()
        bench.server["/a"] = Reply("new", fields: ["ETag": "\"2\""]).waiting(for: gate)
        var phases: [ResourceUpdate<Text>.Phase] = []
        var texts: [String] = []
        for try await update in synchronizer.updates(of: resource) {
            phases.append(update.phase)
            texts.append(update.object.text)
            gate.open()  // the server answers only once the stored object has been shown
        }
        #expect(phases == [.stored(age: 20), .fresh])
        #expect(texts == ["old", "new"])
        #expect(bench.server.requests.last?["If-None-Match"] == "\"1\"")
    }

    @Test("after 304 the last one is the very same object, not parsed again")
    func notModified() async throws {
        try await storeStale()
        let gate = Gate()
        let fields: KeyValuePairs = ["Cache-Control": "max-age=10", "ETag": "\"1\""]
        bench.server["/a"] = Reply("old", fields: fields).conditional().waiting(for: gate)
        try await expectUnchanged(gate)
        #expect(bench.server.counts.replies[304] == 1)
    }

    @Test("after the same bytes, too")
    func sameBytes() async throws {
        try await storeStale()
        let gate = Gate()
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=10"]).waiting(for: gate)
        try await expectUnchanged(gate)
        #expect(bench.server.counts.replies[304] == nil)
    }

    func expectUnchanged(_ gate: Gate) async throws {
        let before = parses.withLock { $0 }
        var updates: [ResourceUpdate<Text>] = []
        for try await update in synchronizer.updates(of: resource) {
            updates.append(update)
            gate.open()
        }
        #expect(updates.map(\.phase) == [.stored(age: 20), .unchanged])
        #expect(updates.first?.object === updates.last?.object)
        #expect(parses.withLock { $0 } == before + 1)
        #expect(synchronizer.cachedObject(for: resource) === updates.first?.object)
    }

    @Test("an object in memory that has become stale is shown, and confirmed without a parse")
    func staleInMemory() async throws {
        serve("old", etag: "\"1\"")
        let loaded = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        let updates = try await all()
        #expect(updates.map(\.phase.isLast) == [false, true])
        #expect(updates.last?.phase == .unchanged)
        #expect(updates.allSatisfy { $0.object === loaded })
        #expect(parses.withLock { $0 } == 1)
        #expect(bench.server.counts.replies[304] == 1)
    }

    @Test("an error comes after the stored object")
    func error() async throws {
        try await storeStale()
        let gate = Gate()
        bench.server["/a"] = Reply("gone", status: 404).waiting(for: gate)
        var texts: [String] = []
        let error = await #expect(throws: SynchronizerError.self) {
            for try await update in synchronizer.updates(of: resource) {
                texts.append(update.object.text)
                gate.open()
            }
        }
        #expect(texts == ["old"])
        #expect((error?.context.response as? HTTPURLResponse)?.statusCode == 404)
    }

    @Test("an entry that must be validated is not shown first")
    func noCache() async throws {
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
        _ = try await synchronizer.load(resource)
        bench.server["/a"] = Reply("new", fields: ["Cache-Control": "no-cache", "ETag": "\"2\""])
        #expect(try await all().map(\.phase) == [.fresh])
    }

    @Test(
        "nor is an object in memory that must not be shown unasked",
        arguments: ["max-age=10, must-revalidate", "no-cache"])
    func mustRevalidate(cacheControl: String) async throws {
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": cacheControl, "ETag": "\"1\""]).conditional()
        for _ in 0..<2 {  // the second is confirmed, and so kept in memory
            _ = try await synchronizer.load(resource)
            bench.clock.advance(by: 20)
        }
        #expect(try await all().map(\.phase) == [.fresh])
    }

    @Test("with a policy for any age, an object in memory is the only update")
    func anyAge() async throws {
        try await storeStale()
        var request = resource.request()
        request.cachePolicy = .returnCacheDataElseLoad
        let any = DataResource(request: request)
        _ = try await synchronizer.load(any)
        var phases: [ResourceUpdate<Data>.Phase] = []
        for try await update in synchronizer.updates(of: any) { phases.append(update.phase) }
        #expect(phases == [.fresh])
        #expect(bench.server.counts.requests == 1)
    }

    @Test("ending the iteration cancels")
    func cancelling() async throws {
        try await storeStale()
        let gate = Gate()
        bench.server["/a"] = Reply("new").waiting(for: gate)
        for try await update in synchronizer.updates(of: resource) {
            #expect(update.object.text == "old")
            try await gate.waitForArrivals()
            break
        }
        try await bench.server.waitUntilConnectionsClosed()
        try await synchronizer.waitUntilIdle()
    }

    @Test("a second subscriber of a load in flight gets the stored object, too")
    func joining() async throws {
        try await storeStale()
        let gate = Gate()
        bench.server["/a"] = Reply("new").waiting(for: gate)
        let loaded = Task { [synchronizer, resource] in try await synchronizer.load(resource).text }
        try await gate.waitForArrivals()
        var texts: [String] = []
        for try await update in synchronizer.updates(of: resource) {
            texts.append(update.object.text)
            gate.open()
        }
        #expect(texts == ["old", "new"])
        #expect(try await loaded.value == "new")
        #expect(bench.server.counts.requests == 2)
    }

    @Test("so does one that joins after the stored object was shown")
    func joiningLater() async throws {
        try await storeStale()
        let gate = Gate()
        bench.server["/a"] = Reply("new").waiting(for: gate)
        let shown = Collector<String>()
        let first = Task { [synchronizer, resource] in
            for try await update in synchronizer.updates(of: resource) { shown.append(update.object.text) }
        }
        try await shown.wait(for: 1)
        let second = synchronizer.updates(of: resource)
        gate.open()
        var texts: [String] = []
        for try await update in second { texts.append(update.object.text) }
        #expect(texts == ["old", "new"])
        try await first.value
        #expect(shown.elements == ["old", "new"])
        #expect(bench.server.counts.requests == 2)
    }

    @Test("on the main actor an object in memory is delivered before followResource returns")
    @MainActor func following() async throws {
        serve("old", etag: "\"1\"")
        _ = try await synchronizer.load(resource)
        var texts: [String] = []
        synchronizer.followResource(resource) { step in
            if case .success(let update) = step { texts.append(update.object.text) }
        }
        #expect(texts == ["old"])
    }

    @Test("a subscriber that has cancelled gets nothing")
    @MainActor func followingCancelled() async throws {
        try await storeStale()
        let gate = Gate()
        bench.server["/a"] = Reply("new").waiting(for: gate)
        let shown = Collector<String>()
        let cancel = synchronizer.followResource(resource) { step in
            if case .success(let update) = step { shown.append(update.object.text) }
        }
        try await shown.wait(for: 1)
        cancel()
        gate.open()
        _ = try await synchronizer.load(resource)
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        #expect(shown.elements == ["old"])
    }
}
