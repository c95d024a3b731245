import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Hooks that load: only the loads for which a hook could wait for itself run without hooks.
@Suite("Loads that a hook starts", .bounded)
struct NestedHookTests {
    let bench: Workbench
    let resource: DataResource
    /// The synchronizer whose hook uses it.
    private let box = Locked<Synchronizer?>(nil)

    init() throws {
        bench = try Workbench()
        resource = DataResource(url: bench.server.url("/a"))
        for target in ["/a", "/b", "/token"] {
            bench.server.handle(target) { Reply($0["Authorization"] ?? "anonymous") }
        }
    }

    private static func signed(_ request: URLRequest, _ token: String) -> URLRequest {
        var request = request
        request.setValue(token, forHTTPHeaderField: "Authorization")
        return request
    }

    @Test("run the hooks of another synchronizer, also those that authenticate")
    func anotherSynchronizer() async throws {
        bench.server.handle("/token") { request in
            switch request["Authorization"] {
            case "old": Reply(status: 401)
            case let token: Reply("of \(token ?? "no token")")
            }
        }
        let token = DataResource(url: bench.server.url("/token"))
        let accounts = bench.synchronizer { configuration in
            configuration.prepare = { Self.signed($0, "old") }
            configuration.authenticate = { request, _ in Self.signed(request, "new") }
        }
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { request in
                Self.signed(request, String(decoding: try await accounts.load(token), as: UTF8.self))
            }
        }
        #expect(try await synchronizer.load(resource) == Data("of new".utf8))
    }

    @Test("of two synchronizers whose hooks load with each other, run each hook once")
    func eachOther() async throws {
        let (inner, outer) = (Locked(0), Locked(0))
        let token = DataResource(url: bench.server.url("/token"))
        let accounts = bench.synchronizer { [box] configuration in
            configuration.prepare = { request in
                inner.withLock { $0 += 1 }
                _ = try await box.withLock { $0 }?.load(token)
                return Self.signed(request, "inner")
            }
        }
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { request in
                outer.withLock { $0 += 1 }
                return Self.signed(request, String(decoding: try await accounts.load(token), as: UTF8.self))
            }
        }
        box.withLock { $0 = synchronizer }
        #expect(try await synchronizer.load(resource) == Data("inner".utf8))
        #expect(inner.withLock { $0 } == 1 && outer.withLock { $0 } == 1)
        box.withLock { $0 = nil }
    }

    @Test("run its hooks if they begin after the hook has returned, in a task that it has left behind")
    func laterTask() async throws {
        let (isOver, left) = (Gate(), Collector<Task<Data?, any Error>>())
        let other = DataResource(url: bench.server.url("/b"))
        let synchronizer = bench.synchronizer { [box] configuration in
            configuration.prepare = { request in
                if left.count == 0 {
                    left.append(
                        Task {
                            try await isOver.wait()
                            return try await box.withLock { $0 }?.load(other)
                        })
                }
                return Self.signed(request, "signed")
            }
        }
        box.withLock { $0 = synchronizer }
        #expect(try await synchronizer.load(resource) == Data("signed".utf8))
        isOver.open()
        #expect(try await left.elements[0].value == Data("signed".utf8))
        box.withLock { $0 = nil }
    }

    @Test("are not those of a prefetch that was queued elsewhere, and begins because the hook cancels another")
    func queuedPrefetch() async throws {
        let gate = Gate()
        bench.server.handle("/slow") { _ in Reply("slow").waiting(for: gate) }
        let cancel = Locked<PrefetchTask?>(nil)
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { request in
                if request.url?.path == "/a" { cancel.withLock { $0.take() }?.cancel() }
                return Self.signed(request, "signed")
            }
        }
        let full = (0..<synchronizer.prefetcher.window).map { DataResource(url: bench.server.url("/slow?\($0)")) }
        cancel.withLock { $0 = synchronizer.prefetch(full) }
        let queued = synchronizer.prefetch([DataResource(url: bench.server.url("/b"))], to: .disk)
        _ = try await synchronizer.load(resource)
        _ = await queued.result
        let sent = bench.server.requests.filter { $0.path == "/b" }.map { $0["Authorization"] }
        #expect(sent == ["signed"])
        gate.open()
    }

    @Test("run no hooks if the hook prefetches, and waits for the result")
    func awaitedPrefetch() async throws {
        let calls = Locked(0)
        let other = DataResource(url: bench.server.url("/b"))
        let synchronizer = bench.synchronizer { [box] configuration in
            configuration.prepare = { request in
                calls.withLock { $0 += 1 }
                _ = await box.withLock { $0 }?.prefetch([other]).result
                return Self.signed(request, "signed")
            }
        }
        box.withLock { $0 = synchronizer }
        #expect(try await synchronizer.load(resource) == Data("signed".utf8))
        #expect(calls.withLock { $0 } == 1)
        box.withLock { $0 = nil }
    }
}
