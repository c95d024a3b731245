import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A synchronizer that is offline", .bounded)
struct OfflineTests {
    let bench: Workbench
    let synchronizer: Synchronizer
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        resource = DataResource(url: bench.server.url("/a"))
        bench.server["/a"] = Reply(
            "a", fields: ["Cache-Control": "max-age=10, must-revalidate", "ETag": "\"1\""])
    }

    private func isNotCached(_ error: (any Error)?) -> Bool {
        if case .notCached? = error as? SynchronizerError { true } else { false }
    }

    private func policies(_ change: (inout URLRequest) -> Void = { _ in }) -> [DataResource] {
        let policies: [URLRequest.CachePolicy] = [
            .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            .returnCacheDataElseLoad, .returnCacheDataDontLoad, .reloadRevalidatingCacheData,
        ]
        return policies.map { policy in
            var request = URLRequest(url: bench.server.url("/a"), cachePolicy: policy)
            change(&request)
            return DataResource(request: request)
        }
    }

    @Test("is answered by every stored response, whatever its age, the cache policy and the request's directives")
    func anyAge() async throws {
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 1_000)
        synchronizer.isOffline = true
        let demanding = policies { $0.setValue("no-cache", forHTTPHeaderField: "Cache-Control") }
        for resource in policies() + demanding {
            #expect(try await synchronizer.load(resource) == Data("a".utf8))
            synchronizer.removeAllObjects()
            let loaded = try await synchronizer.loaded(resource)
            #expect(loaded.source == .stale && loaded.trace.age == 1_000)
        }
        #expect(bench.server.counts.requests == 1)
        synchronizer.isOffline = false
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("is answered from memory, also by a stale object, before the call returns")
    @MainActor func memory() async throws {
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 1_000)
        #expect(synchronizer.cachedObject(for: resource) == nil)
        synchronizer.isOffline = true
        #expect(synchronizer.cachedObject(for: resource) == Data("a".utf8))
        let loaded = try await synchronizer.loaded(resource)
        #expect(loaded.source == .stale && loaded.trace.age == 1_000)
        let updates = try await updates()
        #expect(updates.map(\.phase) == [.stale] && updates.map(\.source) == [.stale])
        #expect(updates.map(\.object) == [Data("a".utf8)])
    }

    @Test("calls an object fresh only during its lifetime, and never confirmed")
    func phases() async throws {
        _ = try await synchronizer.load(resource)
        synchronizer.isOffline = true
        #expect(try await synchronizer.loaded(resource).source == .memory)
        #expect(try await updates().map(\.phase) == [.fresh])
        bench.clock.advance(by: 1_000)
        synchronizer.removeAllObjects()
        let stored = try await updates()
        #expect(stored.map(\.phase) == [.stale] && stored.last?.source == .stale)
        #expect(bench.server.counts.requests == 1)
    }

    private func updates() async throws -> [ResourceUpdate<Data>] {
        var updates: [ResourceUpdate<Data>] = []
        for try await update in synchronizer.updates(of: resource) { updates.append(update) }
        return updates
    }

    @Test("fails with notCached for all else", arguments: LoadWay.allCases.filter { !$0.isPrefetch })
    func nothing(way: LoadWay) async throws {
        synchronizer.isOffline = true
        let error = await #expect(throws: SynchronizerError.self) { try await way.load(resource, with: synchronizer) }
        #expect(isNotCached(error) && error?.url == resource.request().url)
        var post = resource.request()
        post.httpMethod = "POST"
        let unsafe = DataResource(request: post)
        #expect(isNotCached(await #expect(throws: SynchronizerError.self) { try await synchronizer.load(unsafe) }))
        #expect(bench.server.counts.requests == 0)
    }

    @Test("loads files")
    func files() async throws {
        synchronizer.isOffline = true
        let url = bench.directory.appendingPathComponent("file")
        try FileManager.default.createDirectory(at: bench.directory, withIntermediateDirectories: true)
        try Data("file".utf8).write(to: url)
        #expect(try await synchronizer.load(DataResource(url: url)) == Data("file".utf8))
        await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(DataResource(url: url.appendingPathExtension("gone")))
        }
    }

    @Test("ends transfers in flight, which stored responses answer", arguments: [false, true])
    func inFlight(isStored: Bool) async throws {
        if isStored { _ = try await synchronizer.load(resource) }
        bench.clock.advance(by: 1_000)
        synchronizer.removeAllObjects()
        let gate = Gate()
        bench.server["/a"] = Reply("newer").waiting(for: gate, .afterBody(2))
        let load = Task { try await synchronizer.load(resource) }
        try await gate.waitForArrivals(1)
        synchronizer.isOffline = true
        if isStored {
            #expect(try await load.value == Data("a".utf8))
        } else {
            #expect(isNotCached(await #expect(throws: SynchronizerError.self) { try await load.value }))
        }
        try await bench.server.waitUntilConnectionsClosed()
        try await synchronizer.waitUntilIdle()
    }

    @Test("answers interrupted loads like new ones if it is offline for a moment only")
    func moment() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("older").waiting(for: gate, .afterBody(2))
        let load = Task { try await synchronizer.load(resource) }
        try await gate.waitForArrivals(1)
        bench.server["/a"] = Reply("newer")
        synchronizer.isOffline = true
        synchronizer.isOffline = false
        do {
            #expect(try await load.value == Data("newer".utf8))
        } catch {
            // The load was looked up again in that moment.
            #expect(isNotCached(error as? SynchronizerError))
        }
    }

    @Test("sends none of the requests that wait for a slot, prefetches included")
    func queued() async throws {
        let gate = Gate()
        bench.server.handle("/x") { _ in Reply("x").waiting(for: gate) }
        let synchronizer = bench.synchronizer { $0.maximumLoads = 2 }
        let resources = (0..<6).map { DataResource(url: bench.server.url("/x?\($0)")) }
        let loads = resources.map { resource in Task { try await synchronizer.load(resource) } }
        try await waitUntil("all loads wait") {
            synchronizer.loader.state.withLock { $0.machine.subscribers.count } == 6
        }
        // The slots are taken by loads: one would take that of a prefetch, whose request the server has already.
        try await gate.waitForArrivals(2)
        synchronizer.prefetch((6..<20).map { DataResource(url: bench.server.url("/x?\($0)")) })
        synchronizer.isOffline = true
        for load in loads {
            #expect(isNotCached(await #expect(throws: SynchronizerError.self) { try await load.value }))
        }
        try await waitUntil("the prefetches have ended") { synchronizer.prefetcher.isIdle }
        gate.open()
        #expect(bench.server.counts.requests == 2)
    }

    @Test("ends the wait for a retry")
    func backingOff() async throws {
        bench.server["/a"] = Reply("busy", status: 503)
        let synchronizer = bench.synchronizer { $0.retry = RetryPolicy() }
        let load = Task { try await synchronizer.load(resource) }
        try await bench.clock.waitForTimer(after: 0...0.5)
        synchronizer.isOffline = true
        #expect(isNotCached(await #expect(throws: SynchronizerError.self) { try await load.value }))
        #expect(bench.server.counts.requests == 1)
    }

    @Test("ends validations in the background, and begins none")
    func refreshes() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=10000"])
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 100)
        let gate = Gate()
        bench.server["/a"] = Reply("newer").waiting(for: gate)
        #expect(try await synchronizer.loaded(resource).source == .stale)
        try await gate.waitForArrivals(1)
        synchronizer.isOffline = true
        try await bench.server.waitUntilConnectionsClosed()
        for _ in 0..<3 { #expect(try await synchronizer.load(resource) == Data("a".utf8)) }
        #expect(bench.server.counts.requests == 2)
        synchronizer.isOffline = false
        // No other validation begins until the end of the interrupted one has been noticed, on another thread.
        repeat {
            #expect(try await synchronizer.load(resource) == Data("a".utf8))
            await Task.yield()
        } while bench.server.counts.requests < 3
        gate.open()
    }

    @Test("follows stored redirects")
    func redirects() async throws {
        bench.server["/moved"] = Reply(status: 301, fields: ["Location": "/a", "Cache-Control": "max-age=10"])
        let moved = DataResource(url: bench.server.url("/moved"))
        _ = try await synchronizer.load(moved)
        bench.clock.advance(by: 1_000)
        synchronizer.removeAllObjects()
        synchronizer.isOffline = true
        #expect(try await synchronizer.load(moved) == Data("a".utf8))
    }

    @Test("says so to observers of the switch")
    func observing() async throws {
        var values = synchronizer.offlineUpdates.makeAsyncIterator()
        #expect(await values.next() == false)
        synchronizer.isOffline = true
        #expect(await values.next() == true && synchronizer.isOffline)
        synchronizer.isOffline = true
        synchronizer.isOffline = false
        #expect(await values.next() == false)
    }
}
