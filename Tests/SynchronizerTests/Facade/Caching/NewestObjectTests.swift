import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Its parse of "1" waits.
private struct Held: Resource {
    let url: URL
    var policy = URLRequest.CachePolicy.useProtocolCachePolicy
    let began: Collector<String>
    let gate: DispatchSemaphore

    func request() -> URLRequest { URLRequest(url: url, cachePolicy: policy) }
    var parse: @Sendable (Data) throws -> String {
        { [began, gate] data in
            let text = String(decoding: data, as: UTF8.self)
            began.append(text)
            if text == "1" { gate.wait() }
            return text
        }
    }
}

@Suite("The object in memory", .bounded)
struct NewestObjectTests {
    @Test("is that of the latest response, although the parse of an older one ends later")
    func olderParse() async throws {
        let bench = try Workbench()
        bench.server["/a"] = Reply("1", fields: ["Cache-Control": "max-age=60"])
        let synchronizer = bench.synchronizer { $0.maximumParses = 2 }
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/a")))
        bench.server["/a"] = Reply("2", fields: ["Cache-Control": "max-age=60"])
        var resource = Held(url: bench.server.url("/a"), began: Collector(), gate: DispatchSemaphore(value: 0))
        let results = Collector<String>()
        synchronizer.loadResource(resource, on: .global()) { results.append((try? $0.get()) ?? "") }
        _ = try await resource.began.wait(for: 1)
        resource.policy = .reloadIgnoringLocalCacheData
        #expect(try await synchronizer.load(resource) == "2")
        resource.gate.signal()
        #expect(try await results.wait(for: 1) == ["1"])
        resource.policy = .useProtocolCachePolicy
        #expect(synchronizer.cachedObject(for: resource) == "2")
    }
}
