import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Objects that are inserted into memory", .bounded)
struct InsertTests {
    let bench: Workbench
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        resource = DataResource(url: bench.server.url("/a"))
        bench.server["/a"] = Reply("server", fields: ["Cache-Control": "max-age=100"])
    }

    @Test("answer loads, before they return on the main actor")
    @MainActor func answering() async throws {
        let synchronizer = bench.synchronizer()
        synchronizer.insert(Data("mine".utf8), for: resource)
        bench.clock.advance(by: 1_000_000)
        #expect(synchronizer.cachedObject(for: resource) == Data("mine".utf8))
        var isAnswered = false
        synchronizer.loadResource(resource) { result in isAnswered = (try? result.get()) == Data("mine".utf8) }
        #expect(isAnswered)
        #expect(try await synchronizer.loaded(resource).source == .memory)
        #expect(synchronizer.memory.totalCost == 4)
        synchronizer.invalidate(resource)
        #expect(try await synchronizer.load(resource) == Data("server".utf8))
    }

    @Test("answer no longer than their lifetime, and no other resource")
    func lifetime() async throws {
        let synchronizer = bench.synchronizer()
        synchronizer.insert(Data("mine".utf8), for: resource, lifetime: 10)
        #expect(synchronizer.cachedObject(for: DataResource(url: bench.server.url("/b"))) == nil)
        #expect(synchronizer.cachedObject(for: resource) != nil)
        bench.clock.advance(by: 11)
        #expect(try await synchronizer.load(resource) == Data("server".utf8))
    }

    @Test("are not kept for requests that memory never answers")
    func unkept() {
        let synchronizer = bench.synchronizer()
        var request = resource.request()
        request.httpMethod = "POST"
        synchronizer.insert(Data(), for: DataResource(request: request))
        let reloading = URLRequest(url: bench.server.url("/a"), cachePolicy: .reloadIgnoringLocalCacheData)
        synchronizer.insert(Data(), for: DataResource(request: reloading))
        #expect(synchronizer.memory.count == 0)
    }

    @Test("are inserted for the prepared request")
    func prepared() async throws {
        let hook = Preparing()
        let synchronizer = bench.synchronizer { $0.prepare = { try await hook.prepare($0) } }
        synchronizer.insert(Data("mine".utf8), for: resource)
        try await waitUntil("it is inserted") { synchronizer.memory.count == 1 }
        #expect(try await synchronizer.load(resource) == Data("mine".utf8))
        hook.token.withLock { $0 = "t2" }
        #expect(try await synchronizer.load(resource) == Data("server".utf8))
    }

    @Test("are in memory when the insertion returns, with a hook or without", arguments: [false, true])
    func awaited(hasHook: Bool) async throws {
        let hook = Preparing()
        let synchronizer = bench.synchronizer { if hasHook { $0.prepare = { try await hook.prepare($0) } } }
        try await synchronizer.insertPrepared(Data("mine".utf8), for: resource)
        #expect(synchronizer.memory.count == 1)
        #expect(try await synchronizer.load(resource) == Data("mine".utf8))
    }

    @Test("are not inserted if the hook throws, whose error the insertion throws")
    func refused() async throws {
        let synchronizer = bench.synchronizer { $0.prepare = { _ in throw URLError(.userAuthenticationRequired) } }
        await #expect(throws: URLError(.userAuthenticationRequired)) {
            try await synchronizer.insertPrepared(Data("mine".utf8), for: resource)
        }
        #expect(synchronizer.memory.count == 0)
    }
}
