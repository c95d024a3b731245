import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The smaller version of a resource", .bounded)
struct LowDataTests {
    private struct Scaled: Resource {
        let url: URL
        var lowDataURL: URL?
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Data { { $0 } }
    }

    let bench: Workbench
    private let resource: Scaled

    init() throws {
        bench = try Workbench()
        resource = Scaled(url: bench.server.url("/full"), lowDataURL: bench.server.url("/low"))
        for name in ["full", "low"] {
            bench.server["/\(name)"] = Reply(name, fields: ["Cache-Control": "max-age=100"])
        }
    }

    @Test("is loaded if the configuration says so, however the load is started", arguments: LoadWay.allCases)
    func setting(way: LoadWay) async throws {
        let synchronizer = bench.synchronizer { $0.usesLowDataURLs = true }
        let body = try await way.load(resource, with: synchronizer)
        #expect(body == nil || body == Data("low".utf8))
        try await bench.server.waitForRequests(1)
        if way.isPrefetch { try await waitUntil("it is loaded") { synchronizer.prefetcher.isIdle } }
        #expect(bench.server.requests.map(\.target) == ["/low"])
        #expect((synchronizer.cachedObject(for: resource) == nil) == (way == .prefetchToDisk))
        synchronizer.invalidate(resource)
        #expect(synchronizer.cachedObject(for: resource) == nil)
    }

    @Test("is not loaded otherwise, and not for a resource without one")
    func unset() async throws {
        #expect(try await bench.synchronizer().load(resource) == Data("full".utf8))
        let saving = bench.synchronizer { $0.usesLowDataURLs = true }
        #expect(try await saving.load(Scaled(url: resource.url)) == Data("full".utf8))
    }

    @Test("at another origin gets no credentials")
    func credentials() async throws {
        let other = try ScriptedServer { _ in Reply("low") }
        var request = URLRequest(url: bench.server.url("/full"))
        request.setValue("Bearer 1", forHTTPHeaderField: "Authorization")
        request.setValue("a=b", forHTTPHeaderField: "Cookie")
        request.setValue("en", forHTTPHeaderField: "Accept-Language")
        let saving = bench.synchronizer { $0.usesLowDataURLs = true }
        for (server, isSame) in [(bench.server, true), (other, false)] {
            let resource = Requested(base: request, lowDataURL: server.url("/low"))
            #expect(try await saving.load(resource) == Data("low".utf8))
            let sent = try #require(server.requests.last)
            #expect(sent["Accept-Language"] == "en")
            #expect(sent["Authorization"] == (isSame ? "Bearer 1" : nil) && sent["Cookie"] == (isSame ? "a=b" : nil))
        }
    }

    private struct Requested: Resource {
        let base: URLRequest
        var lowDataURL: URL?
        func request() -> URLRequest { base }
        var parse: @Sendable (Data) throws -> Data { { $0 } }
    }

    @Test("is invalidated together with the full version, whichever of them is loaded", arguments: [false, true])
    func invalidated(usesLowData: Bool) async throws {
        let synchronizer = bench.synchronizer { $0.usesLowDataURLs = usesLowData }
        for name in ["low", "full"] {
            let version = DataResource(url: bench.server.url("/\(name)"))
            _ = try await synchronizer.load(version)
            synchronizer.invalidate(resource)
            #expect(synchronizer.cachedObject(for: version) == nil)
            #expect(try await synchronizer.loaded(version).source == .network)
        }
    }

    @Test("is invalidated where a hook has moved it, and so is the full version", arguments: [false, true])
    func invalidatedPrepared(usesLowData: Bool) async throws {
        let synchronizer = bench.synchronizer {
            $0.usesLowDataURLs = usesLowData
            $0.prepare = { request in
                var request = request
                request.url = request.url.flatMap { URL(string: $0.absoluteString + "?signed") }
                return request
            }
        }
        for name in ["low", "full"] { _ = try await synchronizer.load(DataResource(url: bench.server.url("/\(name)"))) }
        #expect(synchronizer.memory.count == 2)
        synchronizer.invalidate(resource)
        try await waitUntil("both are removed") { synchronizer.memory.count == 0 }
    }

    @Test("is known to a prefetch to the disk, so that it shares the transfer of a load and avoids the same networks")
    func prefetched() {
        #expect(StoringOnly(resource, identity: resource.identity).lowDataURL == resource.lowDataURL)
    }

    @Test("answers for the other one offline, if only it is stored", arguments: [false, true], [false, true])
    func stored(prefersSmaller: Bool, isPrepared: Bool) async throws {
        let recorder = ObservingTests.Recorder()
        let synchronizer = bench.synchronizer {
            $0.usesLowDataURLs = prefersSmaller
            $0.observer = recorder
            if isPrepared { $0.prepare = { $0 } }
        }
        let name = prefersSmaller ? "full" : "low"
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/\(name)")))
        bench.clock.advance(by: 1_000)  // it is stale
        synchronizer.isOffline = true
        #expect(try await synchronizer.load(resource) == Data(name.utf8))
        #expect(recorder.names.contains("refused") && !recorder.names.contains("failed"))
        #expect(bench.server.requests.count == 1)
        synchronizer.isOffline = false
        #expect(try await synchronizer.load(resource) == Data((prefersSmaller ? "low" : "full").utf8))
    }

    @Test("does not answer for the other one if neither is stored, or only one and the network may be used")
    func notStored() async throws {
        let synchronizer = bench.synchronizer()
        synchronizer.isOffline = true
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
        guard case .notCached(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.url == resource.url)
        synchronizer.isOffline = false
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/low")))
        #expect(try await synchronizer.load(resource) == Data("full".utf8))
    }

    @Test("answers a request that only the cache may answer")
    func cacheOnly() async throws {
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/low")))
        var request = URLRequest(url: resource.url)
        request.cachePolicy = .returnCacheDataDontLoad
        let cached = Requested(base: request, lowDataURL: resource.lowDataURL)
        #expect(try await synchronizer.load(cached) == Data("low".utf8))
        #expect(bench.server.requests.count == 1)
    }

    @Test("is requested once, when the network is constrained or must not be used, whatever has failed before")
    func fallback() {
        let small = URLRequest(url: bench.server.url("/low"))
        let context = SynchronizerError.Context(url: resource.url, trace: LoadTrace())
        var fallback = VersionFallback(to: small, maySendAgain: true)
        #expect(fallback.take(after: .transport(URLError(.timedOut), context)) == nil && !fallback.isTaken)
        #expect(fallback.take(after: .notCached(context)) == small && fallback.isTaken)
        #expect(fallback.request(after: .notCached(context)) == nil)
        var none = VersionFallback(to: nil, maySendAgain: true)
        #expect(none.take(after: .notCached(context)) == nil && !none.isTaken)
    }
}
