import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Requests that Configuration.prepare changes, when something is removed", .bounded)
struct PrepareRemovalTests {
    let bench: Workbench
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        resource = DataResource(url: bench.server.url("/a"))
        bench.server["/a"] = Reply("anonymous", fields: ["Cache-Control": "max-age=100"])
    }

    @Test("may be invalidated by the hook, and everything may be removed by it")
    func removingInHook() async throws {
        let box = Locked<Synchronizer?>(nil)
        let calls = Collector<Bool>()
        let resource = resource
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { request in
                calls.append(true)
                let synchronizer = box.withLock { $0 }
                synchronizer?.invalidate(resource)
                synchronizer?.insert(Data("inserted".utf8), for: resource)
                if calls.count == 1 { synchronizer?.removeAll() }
                return request
            }
        }
        box.withLock { $0 = synchronizer }
        #expect(try await synchronizer.load(resource) == Data("inserted".utf8))
        #expect(calls.count == 2, "once more, because everything was removed")
        box.withLock { $0 = nil }
    }

    @Test("do not wait for ever for a hook that removes everything each time")
    func alwaysRemoving() async throws {
        let box = Locked<Synchronizer?>(nil)
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { request in
                box.withLock { $0 }?.removeAll()
                return request
            }
        }
        box.withLock { $0 = synchronizer }
        #expect(try await synchronizer.load(resource) == Data("anonymous".utf8))
        box.withLock { $0 = nil }
    }

    @Test("are not named by the error of an update that follows a stale object")
    func updateErrors() async throws {
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=100"])
        let signed = bench.server.url("/a?signature=secret")
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { _ in URLRequest(url: signed) }
        }
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        bench.server["/a"] = Reply("gone", status: 410)
        var phases: [ResourceUpdate<Data>.Phase] = []
        let error = await #expect(throws: SynchronizerError.self) {
            for try await update in synchronizer.updates(of: resource) { phases.append(update.phase) }
        }
        #expect(phases.count == 1 && error?.url == resource.request().url)
    }
}
