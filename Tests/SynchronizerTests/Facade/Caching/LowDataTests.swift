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

    @Test("is invalidated together with the full version")
    func invalidated() async throws {
        let low = DataResource(url: bench.server.url("/low"))
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(low)
        synchronizer.invalidate(resource)
        #expect(synchronizer.cachedObject(for: low) == nil)
        #expect(try await synchronizer.loaded(low).source == .network)
    }
}
