import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Each call of `request()` gives a new token, and is counted.
private struct RotatingResource: Resource {
    let url: URL
    let calls = Locked(0)

    func request() -> URLRequest {
        let number = calls.withLock { calls in
            calls += 1
            return calls
        }
        return Self.request(url, number)
    }

    var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }

    static func request(_ url: URL, _ number: Int) -> URLRequest {
        var request = URLRequest(url: url)
        request.setValue("t\(number)", forHTTPHeaderField: "Authorization")
        return request
    }
}

/// The same type of object, under one token.
private struct FixedResource: Resource {
    let identity: ResourceIdentity
    func request() -> URLRequest { identity.request }
    var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }
}

@Suite("A token that changes with each call of request()", .bounded)
struct RotatingTokenTests {
    let bench: Workbench

    init() throws {
        bench = try Workbench()
        bench.server.handle("/a") { request in
            Reply(request["Authorization"] ?? "anonymous", fields: ["Cache-Control": "max-age=100"])
        }
    }

    @Test("is requested once per load, and its response is kept for no other token", arguments: LoadWay.allCases)
    func once(way: LoadWay) async throws {
        let synchronizer = bench.synchronizer()
        let resource = RotatingResource(url: bench.server.url("/a"))
        let answer = try await way.load(resource, with: synchronizer)
        if way.isPrefetch { try await waitUntil("it is stored") { synchronizer.prefetchStatistics.loaded == 1 } }
        #expect(resource.calls.withLock { $0 } == 1)
        #expect(answer == nil || answer == "t1")
        #expect(bench.server.requests.map { $0["Authorization"] } == ["t1"])
        for number in 1...4 {
            let request = RotatingResource.request(resource.url, number)
            let text = try await synchronizer.load(FixedResource(identity: ResourceIdentity(request)))
            #expect(text == "t\(number)")
        }
        #expect(try await synchronizer.load(resource) == "t2")
        #expect(resource.calls.withLock { $0 } == 2)
    }

    @Test("is requested once for a memory hit, too")
    func memory() async throws {
        let synchronizer = bench.synchronizer { $0.observer = Silent() }
        let resource = RotatingResource(url: bench.server.url("/a"))
        #expect(try await synchronizer.load(resource) == "t1")
        resource.calls.withLock { $0 = 0 }
        #expect(try await synchronizer.loaded(resource).source == .memory)
        #expect(resource.calls.withLock { $0 } == 1)
        resource.calls.withLock { $0 = 0 }
        #expect(synchronizer.cachedObject(for: resource) == "t1")
        #expect(synchronizer.cachedObject(for: resource) == nil, "that is another token")
        #expect(resource.calls.withLock { $0 } == 2)
        resource.calls.withLock { $0 = 0 }
        synchronizer.invalidate(resource)
        #expect(resource.calls.withLock { $0 } == 1)
        resource.calls.withLock { $0 = 0 }
        #expect(try await synchronizer.loaded(resource).source == .network)
        #expect(bench.server.requests.map { $0["Authorization"] } == ["t1", "t1"])
    }

    @Test("is the same when a load is tried again")
    func retry() async throws {
        let synchronizer = bench.synchronizer { configuration in
            configuration.retry = RetryPolicy()
            configuration.retry.baseDelay = 0
            configuration.time = SystemTime()
        }
        bench.server.enqueue(Reply("busy", status: 503), for: "/a")
        let resource = RotatingResource(url: bench.server.url("/a"))
        #expect(try await synchronizer.load(resource) == "t1")
        #expect(bench.server.requests.map { $0["Authorization"] } == ["t1", "t1"])
        #expect(resource.calls.withLock { $0 } == 1)
    }

    @Test("is the same for the stored object and for its revalidation")
    func revalidation() async throws {
        bench.server.handle("/a") { request in
            Reply(
                request["Authorization"] ?? "anonymous",
                fields: ["Cache-Control": "max-age=10, stale-while-revalidate=100"])
        }
        let synchronizer = bench.synchronizer()
        let resource = RotatingResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        resource.calls.withLock { $0 = 0 }
        var texts: [String] = []
        for try await update in synchronizer.updates(of: resource) { texts.append(update.object) }
        #expect(texts.allSatisfy { $0 == "t1" } && !texts.isEmpty)
        #expect(resource.calls.withLock { $0 } == 1)
        #expect(bench.server.requests.map { $0["Authorization"] } == ["t1", "t1"])
    }

    @Test("is that of the identity, for a resource that keeps one")
    func kept() async throws {
        struct Kept: Resource {
            let identity: ResourceIdentity
            let rotating: RotatingResource
            init(_ rotating: RotatingResource) {
                self.rotating = rotating
                identity = rotating.identity
            }
            func request() -> URLRequest { rotating.request() }
            var parse: @Sendable (Data) throws -> String { rotating.parse }
        }
        let synchronizer = bench.synchronizer()
        let resource = Kept(RotatingResource(url: bench.server.url("/a")))
        #expect(try await synchronizer.load(resource) == "t1")
        #expect(try await synchronizer.loaded(resource).source == .memory)
        #expect(bench.server.requests.map { $0["Authorization"] } == ["t1"])
    }
}

private struct Silent: SynchronizerObserver {
    func synchronizerDid(_ event: SynchronizerEvent) {}
}
