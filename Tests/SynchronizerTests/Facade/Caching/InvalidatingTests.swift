import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A response to an unsafe method", .bounded)
struct InvalidatingTests {
    let bench: Workbench
    let synchronizer: Synchronizer
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        resource = DataResource(url: bench.server.url("/a"))
    }

    func post(status: Int = 200) async {
        bench.server["/a"] = Reply("done", status: status)
        var request = URLRequest(url: bench.server.url("/a"))
        request.httpMethod = "POST"
        _ = try? await synchronizer.load(DataResource(request: request))
        bench.server["/a"] = Reply("new", fields: ["Cache-Control": "max-age=100"])
    }

    @Test("removes the object in memory, too, but not after an error", arguments: [200, 500])
    func memory(status: Int) async throws {
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=100"])
        _ = try await synchronizer.load(resource)
        await post(status: status)
        #expect((synchronizer.cachedObject(for: resource) == nil) == (status == 200))
        #expect(try await synchronizer.load(resource) == Data((status == 200 ? "new" : "old").utf8))
    }

    @Test("a response to an earlier request is delivered to its subscribers, and not kept")
    func inFlight() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=100"]).waiting(for: gate)
        let load = Task { [synchronizer, resource] in try await synchronizer.load(resource) }
        try await gate.waitForArrivals(1)
        await post()
        // A load that starts now does not coalesce with the earlier load.
        #expect(try await synchronizer.load(resource) == Data("new".utf8))
        synchronizer.removeAll()
        gate.open()
        #expect(try await load.value == Data("old".utf8))
        #expect(synchronizer.cachedObject(for: resource) == nil)
        #expect(try await synchronizer.loaded(resource).source == .network)
        #expect(try await synchronizer.load(resource) == Data("new".utf8))
    }

    @Test("removeAll() applies to loads in flight: no load coalesces with them, and their results are not kept")
    func removeAll() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=100"]).waiting(for: gate)
        let load = Task { [synchronizer, resource] in try await synchronizer.load(resource) }
        try await gate.waitForArrivals(1)
        synchronizer.removeAll()
        bench.server["/a"] = Reply("new", fields: ["Cache-Control": "max-age=100"])
        #expect(try await synchronizer.load(resource) == Data("new".utf8))
        gate.open()
        #expect(try await load.value == Data("old".utf8))
        #expect(synchronizer.cachedObject(for: resource) == Data("new".utf8))
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.load(resource) == Data("new".utf8))
        #expect(bench.server.counts.requests == 2)
    }

    enum Removal: CaseIterable {
        case byAnotherSynchronizer, ofURL, ofAll, since
    }

    @Test("so does a removal by another synchronizer, or from the cache itself", arguments: Removal.allCases)
    func removedElsewhere(_ removal: Removal) async throws {
        let cache = bench.cache()
        let other = bench.synchronizer(cache: cache)
        let gate = Gate()
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=100"]).waiting(for: gate)
        let load = Task { [synchronizer, resource] in try await synchronizer.load(resource) }
        try await gate.waitForArrivals(1)
        switch removal {
        case .byAnotherSynchronizer: other.removeAll()
        case .ofURL: cache.removeCachedResponse(for: resource.request())
        case .ofAll: cache.removeAllCachedResponses()
        case .since: cache.removeCachedResponses(since: bench.clock.now)
        }
        gate.open()
        #expect(try await load.value == Data("old".utf8))
        #expect(cache.cachedResponse(for: resource.request()) == nil)
    }

    private static func stockCache() -> URLCache {
        URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
    }

    @Test("caches without a log of their own have one each, for all that use them")
    func sharedLog() {
        let (cache, other) = (Self.stockCache(), Self.stockCache())
        let store = URLCacheStore(cache)
        #expect(URLCacheStore(cache).invalidations === store.invalidations)
        #expect(URLCacheStore(other).invalidations !== store.invalidations)
    }

    /// Does something just before all that is stored is removed.
    private final class Interrupted: Fetching {
        let base: any Fetching
        let interruption = Locked<(@Sendable () -> Void)?>(nil)

        init(_ base: any Fetching) { self.base = base }

        func fetch(
            _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
        ) -> any Fetch {
            base.fetch(request, options: options, receive: receive)
        }

        func removeStored(for request: URLRequest, body: String?) { base.removeStored(for: request, body: body) }

        func removeAllStored() {
            interruption.withLock { $0 }?()
            base.removeAllStored()
        }
    }

    @Test("removeAll() leaves nothing in memory that was read while the cache was being emptied")
    func removeAllMeanwhile() async throws {
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=100"])
        let fetcher = Interrupted(synchronizer.fetcher)
        let synchronizer = Synchronizer(configuration: synchronizer.configuration, fetcher: fetcher)
        _ = try await synchronizer.load(resource)
        let sources = Collector<LoadSource?>()
        fetcher.interruption.withLock { interruption in
            interruption = { [resource, weak synchronizer] in
                let isDone = DispatchSemaphore(value: 0)
                synchronizer?.loadResource(resource, on: .global()) { _ in
                    sources.append(nil)
                    isDone.signal()
                }
                isDone.wait()
            }
        }
        synchronizer.removeAll()
        #expect(sources.elements.count == 1)
        #expect(synchronizer.cachedObject(for: resource) == nil)
        #expect(bench.server.counts.requests == 1)
    }

    /// Parses that run until the test ends them, with or without subscribers.
    private struct Gated: Resource {
        let url: URL
        let begun = Collector<Bool>()
        let gate = DispatchSemaphore(value: 0)
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Int {
            { [begun, gate] in
                begun.append(true)
                gate.wait()
                return $0.count
            }
        }
    }

    @Test("a parse without subscribers does not restore an invalidated object")
    func abandonedParse() async throws {
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=100"])
        let gated = Gated(url: bench.server.url("/a"))
        let cancel = synchronizer.loadResource(gated, on: .global()) { _ in }
        try await gated.begun.wait(for: 1)
        cancel()
        synchronizer.invalidate(gated)
        gated.gate.signal()
        try await waitUntil("the parse has ended") { synchronizer.loader.update { $0.machine.isIdle } }
        try await waitUntil("its object is gone") { synchronizer.cachedObject(for: gated) == nil }
    }

    @Test("the log knows which keys were invalidated since a mark, and counts forgotten ones as invalidated")
    func log() {
        let log = InvalidationLog()
        let now = Date(timeIntervalSince1970: 1000)
        let first = log.now
        #expect(!log.isInvalid("a", since: first))
        log.note(["a"], at: now)
        #expect(log.isInvalid("a", since: first))
        #expect(log.hasNoted("a", since: now) && !log.hasNoted("a", since: now + 1) && !log.hasNoted("b", since: now))
        #expect(!log.isInvalid("b", since: first))
        let second = log.now
        #expect(!log.isInvalid("a", since: second))
        log.note((0..<20_000).map { "\($0)" }, at: now + 5)
        #expect(log.isInvalid("a", since: first) && log.isInvalid("b", since: second))
        #expect(!log.isInvalid("a", since: log.now))
        #expect(log.hasNoted("b", since: now + 5) && !log.hasNoted("b", since: now + 6))
        log.noteEverything(at: now + 9)
        #expect(log.hasNoted("c", since: now + 9) && log.isInvalid("c", since: second))
    }

    @Test("a load after invalidate(_:) uses the network, and its result is kept")
    func invalidate() async throws {
        for number in 0..<20 {
            bench.server["/a"] = Reply("\(number)", fields: ["Cache-Control": "max-age=100"])
            synchronizer.invalidate(resource)
            #expect(try await synchronizer.load(resource) == Data("\(number)".utf8))
        }
        #expect(bench.server.counts.requests == 20)
        #expect(try await synchronizer.loaded(resource).source == .memory)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(resource).source == .cache)
    }

    @Test("invalidate(_:) removes the target of a redirect, and closes loads in flight to new subscribers")
    func invalidateMore() async throws {
        bench.server["/start"] = Reply.redirect(to: "/a")
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=100"])
        let start = DataResource(url: bench.server.url("/start"))
        _ = try await synchronizer.load(start)
        synchronizer.invalidate(start)
        let gate = Gate()
        bench.server["/a"] = Reply("older", fields: ["Cache-Control": "max-age=100"]).waiting(for: gate)
        let load = Task { [synchronizer, resource] in try await synchronizer.load(resource) }
        try await gate.waitForArrivals(1)
        synchronizer.invalidate(resource)
        bench.server["/a"] = Reply("new", fields: ["Cache-Control": "max-age=100"])
        #expect(try await synchronizer.load(start) == Data("new".utf8))
        #expect(try await synchronizer.load(resource) == Data("new".utf8))
        gate.open()
        #expect(try await load.value == Data("older".utf8))
        #expect(try await synchronizer.load(resource) == Data("new".utf8))
    }
}
