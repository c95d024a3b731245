import Foundation
import HTTPCaching
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Two synchronizers over one directory, which each knows by another path: so they share it as two processes do.
@Suite("Loads that wait for another process", .bounded)
struct LeasedLoadTests {
    let bench: Workbench
    private let links = DisposableDirectory("links")
    let recorder = ObservingTests.Recorder()
    let (first, second): (Synchronizer, Synchronizer)
    /// That of the second one.
    let other: SQLiteURLCache
    let gate = Gate()

    init() throws {
        bench = try Workbench()
        let recorder = recorder
        first = bench.synchronizer()
        let link = links.url.appendingPathComponent("cache")
        for directory in [links.url, bench.directory] {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: bench.directory)
        other = SQLiteURLCache(memoryCapacity: 4 << 20, diskCapacity: 64 << 20, directory: link, time: bench.clock)
        second = bench.synchronizer(cache: other) {
            $0.observer = recorder
            $0.maximumLoads = 1
        }
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=100"]).waiting(for: gate, .beforeHead)
        bench.server["/b"] = Reply("b", fields: ["Cache-Control": "max-age=100"])
    }

    func resource(_ path: String) -> DataResource { DataResource(url: bench.server.url(path)) }

    /// Starts a load whose request is in flight, and another one that waits for it.
    func start() async throws -> (holder: Task<Loaded<Data>, any Error>, waiting: Task<Loaded<Data>, any Error>) {
        let holder = Task { [first] in try await first.loaded(resource("/a")) }
        try await gate.waitForArrivals(1)
        let waiting = Task { [second] in try await second.loaded(resource("/a")) }
        try await bench.clock.waitForTimer(after: 0.0005...0.03)
        return (holder, waiting)
    }

    /// Lets the server answer, and the other load notice.
    func answer(_ holder: Task<Loaded<Data>, any Error>) async throws {
        gate.open()
        _ = try await holder.value
        bench.cache().flush()
        bench.clock.advance(by: 0.05)
    }

    @Test("hold no slot, are answered from the cache, and say what they did")
    func waits() async throws {
        let (holder, waiting) = try await start()
        #expect(try await second.load(resource("/b")) == Data("b".utf8))  // there is one slot
        bench.clock.advance(by: 2)
        try await answer(holder)
        let loaded = try await waiting.value
        #expect(loaded.object == Data("a".utf8) && loaded.source == .cache)
        #expect(loaded.trace.leaseWait >= 2 && loaded.trace.description.contains("another process 2"))
        #expect(bench.server.counts.requests == 2)
        let load = recorder.events.elements.first?.load
        let events = recorder.events.elements.filter { $0.load == load }.map { "\($0.kind)".prefix { $0 != "(" } }
        #expect(
            events == [
                "queued", "started", "needsNetwork", "sent", "waitingForAnotherProcess", "started", "cached", "parsed",
                "finished",
            ])
    }

    @Test("ask themselves after a while; the late response is stored if there is no newer one")
    func limit() async throws {
        let (holder, waiting) = try await start()
        bench.clock.advance(by: 5.1)  // the lease
        try await gate.waitForArrivals(2)
        try await answer(holder)
        #expect(try await waiting.value.source == .network)
    }

    @Test("say that they waited when they reach their time limit", arguments: [false, true])
    func timeLimit(hasHook: Bool) async throws {
        let third = bench.synchronizer(cache: other) {
            $0.timeoutForLoad = 2
            if hasHook { $0.prepare = { $0 } }
        }
        let holder = Task { [first] in try await first.loaded(resource("/a")) }
        try await gate.waitForArrivals(1)
        let waiting = Task { try await third.loaded(resource("/a")) }
        try await bench.clock.waitForTimer(after: 0.0005...0.03)
        try await bench.clock.waitForTimer(after: 1.9...2.1)  // the time limit
        bench.clock.advance(by: 2.5)
        let error = await #expect(throws: SynchronizerError.self) { try await waiting.value }
        #expect((error?.context.trace.leaseWait ?? 0) >= 2 && error?.context.trace.queueWait == 0)
        #expect(error?.context.trace.reason.hasSuffix("while it waited for another process") == true)
        try await answer(holder)
    }

    @Test("end when the network is switched off, and when they are cancelled")
    func ends() async throws {
        let (holder, waiting) = try await start()
        bench.clock.advance(by: 0.5)
        second.isOffline = true
        let error = await #expect(throws: SynchronizerError.self) { try await waiting.value }
        #expect((error?.context.trace.leaseWait ?? 0) >= 0.5 && error?.context.trace.queueWait == 0)
        second.isOffline = false
        let other = Task { [second] in try await second.loaded(resource("/a")) }
        try await bench.clock.waitForTimer(after: 0.0005...0.03)
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        try await answer(holder)
        #expect(try await second.loaded(resource("/a")).source == .cache && bench.server.counts.requests == 1)
    }

    @Test("need not wait if the configuration says so")
    func switchedOff() async throws {
        let third = bench.synchronizer { $0.leases = nil }
        let holder = Task { [second] in try await second.loaded(resource("/a")) }
        try await gate.waitForArrivals(1)
        let other = Task { try await third.loaded(resource("/a")) }
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await [holder.value.source, other.value.source] == [.network, .network])
    }

    @Test("of one process do not wait for each other")
    func oneProcess() async throws {
        let third = bench.synchronizer()
        let loads = [first, third].map { synchronizer in
            Task { try await synchronizer.loaded(resource("/a")) }
        }
        try await gate.waitForArrivals(2)
        gate.open()
        for load in loads { #expect(try await load.value.source == .network) }
    }

    @Test("get no response requested before a removal of their process", arguments: ["POST", "one", "all"])
    func ownRemoval(kind: String) async throws {
        let early = Task { [first] in try await first.loaded(resource("/a")) }
        try await gate.waitForArrivals(1)
        let url = bench.server.url("/a")
        let variant = StoredResponse(
            url: url.absoluteString, method: "GET", selectingFields: HTTPFields([("Accept", "x")]), status: 200,
            fields: HTTPFields([("Vary", "Accept")]), requestTime: bench.clock.now, responseTime: bench.clock.now)
        let head = URLResponse(url: url, mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        other.store(variant, as: CachedURLResponse(response: head, data: Data()))
        bench.clock.advance(by: 1)
        let reloading = Gate()
        bench.server["/a"] = nil
        bench.server.handle("/a") { request in
            if request.method == "POST" { return Reply("done") }
            return Reply("new", fields: ["Cache-Control": "max-age=100"]).waiting(for: reloading, .beforeHead)
        }
        switch kind {
        case "POST":
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            _ = try await second.load(DataResource(request: request))
        case "one": second.invalidate(resource("/a"))
        default: second.removeAll()
        }
        try await waitUntil("the removal is done") { [other] in other.entries(for: url.absoluteString).isEmpty }
        other.flush()
        bench.clock.advance(by: 1)
        let reload = Task { [second] in try await second.loaded(resource("/a")) }
        try await reloading.waitForArrivals(1)  // it does not wait
        gate.open()
        #expect(try await early.value.object == Data("a".utf8))
        bench.cache().flush()
        #expect(bench.cache().entries(for: url.absoluteString).isEmpty)
        reloading.open()
        #expect(try await reload.value.object == Data("new".utf8))
        #expect(try await second.load(resource("/a")) == Data("new".utf8))
    }

    @Test("a load after a removal does not wait for one that began before")
    func removal() async throws {
        let old = Task { [first] in try await first.loaded(resource("/a")) }
        try await gate.waitForArrivals(1)
        first.removeAll()
        let new = Task { [first] in try await first.loaded(resource("/a")) }
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await [old.value.source, new.value.source] == [.network, .network])
    }
}
