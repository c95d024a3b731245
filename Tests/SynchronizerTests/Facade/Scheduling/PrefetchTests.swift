import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Prefetching", .bounded)
struct PrefetchTests {
    let bench: Workbench
    let synchronizer: Synchronizer

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        bench.server.handle("/x") { request in Reply(request.target, fields: ["Cache-Control": "max-age=100"]) }
    }

    func resources(_ numbers: Range<Int>) -> [LoadingTests.Counted] {
        numbers.map { LoadingTests.Counted(url: bench.server.url("/x?\($0)"), parses: parses) }
    }

    let parses = Locked(0)

    /// Returns when that many prefetches have been loaded.
    func loaded(_ count: Int) async throws {
        try await waitUntil("\(count) prefetches are loaded") { synchronizer.prefetchStatistics.loaded >= count }
    }

    @Test("to memory: loads find the objects in memory, and count them as used")
    func toMemory() async throws {
        synchronizer.prefetch(resources(0..<30))
        try await loaded(30)
        #expect(parses.withLock { $0 } == 30)
        for resource in resources(0..<10) { #expect(synchronizer.cachedObject(for: resource) != nil) }
        for resource in resources(10..<20) { _ = try await synchronizer.load(resource) }
        #expect(bench.server.counts.requests == 30)
        #expect(synchronizer.prefetchStatistics.used == 20)
        #expect(synchronizer.prefetchStatistics.bytes == 10 * 4 + 20 * 5)
    }

    @Test("an object in memory is not prefetched")
    func alreadyThere() async throws {
        _ = try await synchronizer.load(resources(0..<1)[0])
        synchronizer.prefetch(resources(0..<2))
        try await loaded(1)
        #expect(bench.server.requests.map(\.query) == ["0", "1"])
    }

    @Test("to disk only: nothing is parsed, and no request is needed later")
    func toDisk() async throws {
        synchronizer.prefetch(resources(0..<5), to: .disk)
        try await loaded(5)
        #expect(parses.withLock { $0 } == 0)
        for resource in resources(0..<5) {
            #expect(synchronizer.cachedObject(for: resource) == nil)
            #expect(try await synchronizer.loaded(resource).source == .cache)
        }
        #expect(bench.server.counts.requests == 5)
        #expect(synchronizer.prefetchStatistics.used == 5)
    }

    /// Accepts no more than it says.
    struct Small: Resource {
        let url: URL
        var maximumSize: Int? { 100 }
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Data { { $0 } }
    }

    @Test("to disk: a load in the meantime coalesces with the prefetch, with the resource's own limit")
    func toDiskShared() async throws {
        let gate = Gate()
        bench.server["/small"] = Reply("small").waiting(for: gate, .beforeHead)
        bench.server["/large"] = Reply(Data(repeating: 1, count: 101), fields: ["Cache-Control": "max-age=100"])
        let (small, large) = (Small(url: bench.server.url("/small")), Small(url: bench.server.url("/large")))
        synchronizer.prefetch([small], to: .disk)
        try await gate.waitForArrivals(1)
        let result = await withCheckedContinuation { continuation in
            synchronizer.loadResource(small, on: .global()) { continuation.resume(returning: $0) }
            gate.open()  // it has coalesced with the load by now
        }
        guard case .success(let data) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(data == Data("small".utf8))
        #expect(bench.server.counts.requests == 1)
        synchronizer.prefetch([large], to: .disk)
        try await bench.server.waitForRequests(2)
        await #expect(throws: SynchronizerError.self) { try await synchronizer.load(large) }
    }

    @Test("a prefetch is cancelled as one")
    func cancelling() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        let prefetch = synchronizer.prefetch(resources(0..<100))
        let other = synchronizer.prefetch(resources(100..<200))
        try await gate.waitForArrivals(2)
        prefetch.cancel()
        other.cancel()
        try await bench.server.waitUntilConnectionsClosed()
        try await synchronizer.waitUntilIdle()
        #expect(synchronizer.prefetchStatistics.loaded == 0)
    }

    @Test("a load that has coalesced with a prefetch continues when the prefetch is cancelled")
    func askedMeanwhile() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        let prefetch = synchronizer.prefetch(resources(0..<1))
        try await gate.waitForArrivals()
        let load = Task { [synchronizer, resource = resources(0..<1)[0]] in try await synchronizer.load(resource) }
        // The load must have coalesced with the prefetch before the prefetch is cancelled.
        try await waitUntil("two have asked") { synchronizer.loader.update { $0.receivers.count } >= 2 }
        prefetch.cancel()
        gate.open()
        #expect(try await load.value == 4)
        #expect(bench.server.counts.requests == 1)
    }

    @Test("the window narrows when most is wasted")
    func wasted() async throws {
        let before = synchronizer.prefetcher.window
        for round in 0..<4 {
            let numbers = round * 8..<round * 8 + 8
            let prefetch = synchronizer.prefetch(resources(numbers))
            try await loaded((round + 1) * 8)
            prefetch.cancel()
        }
        #expect(synchronizer.prefetchStatistics.wasted == 32)
        #expect(synchronizer.prefetchStatistics.wastedBytes == synchronizer.prefetchStatistics.bytes)
        #expect(synchronizer.prefetcher.window == before / 4)
    }

    @Test("a second prefetch of a resource does not count as a use")
    func twice() async throws {
        synchronizer.prefetch(resources(0..<4))
        try await loaded(4)
        synchronizer.prefetch(resources(0..<4))
        #expect(synchronizer.prefetchStatistics.used == 0)
        _ = try await synchronizer.load(resources(0..<1)[0])
        #expect(synchronizer.prefetchStatistics.used == 1)
    }

    @Test("a load during a prefetch, queued or in flight, counts as a use, and the prefetch is not wasted later")
    func askedEarly() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in
            Reply(request.target, fields: ["Cache-Control": "max-age=100"]).waiting(for: gate)
        }
        let count = synchronizer.prefetcher.window + 4
        let prefetch = synchronizer.prefetch(resources(0..<count))
        try await gate.waitForArrivals(1)
        let answers = Collector<Int>()
        for number in [0, count - 1] {
            synchronizer.loadResource(resources(number..<number + 1)[0], on: .global()) { _ in answers.append(number) }
        }
        gate.open()
        try await answers.wait(for: 2)
        // The last one is in memory by now, or shared: either way its prefetch is not counted as wasted.
        try await waitUntil("all loads are over") {
            synchronizer.loader.update { $0.machine.isIdle } && synchronizer.prefetcher.isIdle
        }
        prefetch.cancel()
        let statistics = synchronizer.prefetchStatistics
        #expect(statistics.used >= 1)
        #expect(statistics.used + statistics.wasted == statistics.loaded)
        #expect(statistics.wasted == count - 2)
    }

    @Test("prefetches of objects that are in memory by then take no place in the window")
    func knownByThen() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in
            Reply(request.target, fields: ["Cache-Control": "max-age=100"]).waiting(for: gate)
        }
        let window = synchronizer.prefetcher.window
        synchronizer.prefetch(resources(0..<window))
        synchronizer.prefetch(resources(0..<window))
        try await gate.waitForArrivals(1)
        gate.open()
        try await waitUntil("the prefetcher is idle") { synchronizer.prefetcher.isIdle }
        synchronizer.prefetch(resources(window..<2 * window))
        try await waitUntil("the prefetcher is idle again") { synchronizer.prefetcher.isIdle }
        #expect(bench.server.counts.requests == 2 * window)
    }
}
