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
}
