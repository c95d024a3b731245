import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The cache policy of the session's configuration", .bounded)
struct DefaultPolicyTests {
    let bench: Workbench
    let cache: SQLiteURLCache

    init() throws {
        bench = try Workbench()
        cache = bench.cache()
        bench.server["/a"] = Reply("hello", fields: ["Cache-Control": "max-age=100"])
    }

    func synchronizer(_ policy: URLRequest.CachePolicy) -> Synchronizer {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = policy
        return bench.synchronizer(cache: cache) { $0.sessionConfiguration = configuration }
    }

    func resource(_ policy: URLRequest.CachePolicy = .useProtocolCachePolicy) -> DataResource {
        var request = URLRequest(url: bench.server.url("/a"))
        request.cachePolicy = policy
        return DataResource(request: request)
    }

    @Test("applies to requests without one: offline, no request is sent")
    func offline() async throws {
        let synchronizer = synchronizer(.returnCacheDataDontLoad)
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource()) }
        guard case .notCached? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(bench.server.counts.requests == 0)
        _ = try await self.synchronizer(.useProtocolCachePolicy).load(resource())
        bench.clock.advance(by: 200)
        #expect(try await synchronizer.loaded(resource()).source == .cache)
        #expect(synchronizer.cachedObject(for: resource()) != nil, "it is of any age, as the policy says")
        #expect(bench.server.counts.requests == 1)
    }

    @Test("is not that of requests that set one")
    func own() async throws {
        let synchronizer = synchronizer(.returnCacheDataDontLoad)
        #expect(try await synchronizer.loaded(resource(.reloadIgnoringLocalCacheData)).source == .network)
    }

    @Test("bypasses objects in memory if it requires the server each time")
    func reloading() async throws {
        let synchronizer = synchronizer(.reloadIgnoringLocalCacheData)
        for _ in 0..<2 { #expect(try await synchronizer.loaded(resource()).source == .network) }
        #expect(synchronizer.cachedObject(for: resource()) == nil)
        for try await update in synchronizer.updates(of: resource()) { #expect(update.source == .network) }
        #expect(bench.server.counts.requests == 3)
    }

    @Test("is part of the coalescing key: a load with the same policy coalesces, another does not")
    func sharing() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("hello").waiting(for: gate)
        let synchronizer = synchronizer(.reloadIgnoringLocalCacheData)
        let loads = Collector<String>()
        for policy in [
            .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad,
        ] as [URLRequest.CachePolicy] {
            synchronizer.loadResource(resource(policy), on: .global()) { _ in loads.append("\(policy.rawValue)") }
        }
        try await bench.server.waitForRequests(2)
        gate.open()
        try await waitUntil("all are answered") { loads.elements.count == 3 }
        #expect(bench.server.counts.requests == 2)
    }

    @Test("holds for prefetches, too")
    func prefetching() async throws {
        let synchronizer = synchronizer(.returnCacheDataDontLoad)
        synchronizer.prefetch([resource()])
        try await waitUntil("it is over") { synchronizer.prefetcher.isIdle }
        #expect(bench.server.counts.requests == 0)
    }

    @Test("stays as the caller's configuration has it")
    func untouched() {
        let synchronizer = synchronizer(.returnCacheDataDontLoad)
        let policy = synchronizer.configuration.sessionConfiguration.requestCachePolicy
        #expect(policy == .returnCacheDataDontLoad)
    }

    @Test("decides the synchronizer's lookup in native mode, too")
    func native() async throws {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        var configuration = Synchronizer.Configuration(urlCache: harness.session.cache)
        configuration.time = harness.clock
        configuration.sessionConfiguration = .ephemeral
        configuration.sessionConfiguration.requestCachePolicy = .returnCacheDataDontLoad
        let synchronizer = Synchronizer(configuration: configuration, fetcher: harness.fetcher)
        let resource = DataResource(request: harness.request())
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
        guard case .notCached? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(harness.session.asked.isEmpty)
    }
}
