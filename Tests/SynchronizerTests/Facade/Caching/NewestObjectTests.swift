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

    @Test("stays when the parse of an invalidated response ends")
    func invalidatedParse() async throws {
        let bench = try Workbench()
        bench.server["/a"] = Self.reply("1")
        let synchronizer = bench.synchronizer { $0.maximumParses = 2 }
        let resource = Held(url: bench.server.url("/a"), began: Collector(), gate: DispatchSemaphore(value: 0))
        let results = Collector<String>()
        synchronizer.loadResource(resource, on: .global()) { results.append((try? $0.get()) ?? "") }
        try await resource.began.wait(for: 1)
        synchronizer.invalidate(resource)
        bench.server["/a"] = Self.reply("2")
        #expect(try await synchronizer.load(resource) == "2")
        resource.gate.signal()
        #expect(try await results.wait(for: 1) == ["1"])
        synchronizer.loader.parses.sync(flags: .barrier) {}
        #expect(synchronizer.cachedObject(for: resource) == "2")
    }

    private static func reply(_ body: String) -> Reply { Reply(body, fields: ["Cache-Control": "max-age=60"]) }

    enum Caching: CaseIterable {
        case none, stock, ownCache
    }

    /// A load whose response "old" has begun to arrive, and will continue when the gate is opened.
    private struct Slow {
        let bench: Workbench
        let gate = Gate()
        let synchronizer: Synchronizer
        let resource: DataResource
        let load: Task<Data, any Error>

        init(_ caching: Caching) async throws {
            let bench = try Workbench()
            let synchronizer = bench.synchronizer { configuration in
                switch caching {
                case .none: configuration.urlCache = nil
                case .stock: configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
                case .ownCache: break
                }
            }
            let resource = DataResource(url: bench.server.url("/a"))
            bench.server["/a"] = NewestObjectTests.reply("old").waiting(for: gate, .afterBody(1))
            load = Task { try await synchronizer.load(resource) }
            (self.bench, self.synchronizer, self.resource) = (bench, synchronizer, resource)
            try await gate.waitForArrivals()
            bench.server["/a"] = NewestObjectTests.reply("new")
        }

        func held(_ policy: URLRequest.CachePolicy) -> Held {
            Held(url: bench.server.url("/a"), policy: policy, began: Collector(), gate: DispatchSemaphore(value: 0))
        }

        /// The objects that are in memory when the old response has arrived.
        func objectsAfterwards() async throws -> [String?] {
            gate.open()
            #expect(try await load.value == Data("old".utf8))
            let data = synchronizer.cachedObject(for: resource).map { String(decoding: $0, as: UTF8.self) }
            return [data, synchronizer.cachedObject(for: held(.useProtocolCachePolicy))]
        }
    }

    @Test("is that of the latest request, although an older response arrives later", arguments: Caching.allCases)
    func olderResponse(_ caching: Caching) async throws {
        let slow = try await Slow(caching)
        slow.bench.clock.advance(by: 1)
        var request = URLRequest(url: slow.bench.server.url("/a"))
        request.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(try await slow.synchronizer.load(DataResource(request: request)) == Data("new".utf8))
        #expect(try await slow.synchronizer.load(slow.held(.reloadIgnoringLocalCacheData)) == "new")
        #expect(try await slow.objectsAfterwards() == ["new", "new"])
    }

    @Test("stays when a response arrives that was requested before a removal", arguments: Caching.allCases)
    func removed(_ caching: Caching) async throws {
        let slow = try await Slow(caching)
        slow.synchronizer.removeAll()
        #expect(try await slow.synchronizer.load(slow.resource) == Data("new".utf8))
        #expect(try await slow.synchronizer.load(slow.held(.useProtocolCachePolicy)) == "new")
        #expect(try await slow.objectsAfterwards() == ["new", "new"])
    }

    @Test("is replaced although it seems to come from the future, as after the clock was set back")
    func future() {
        let now = Date(timeIntervalSince1970: 1_000)
        let order = { (seconds: Double, ended: Int) in ResponseOrder(requested: now + seconds, ended: ended) }
        #expect(order(-1, 1).isNewer(than: order(-2, 2), at: now) && !order(-2, 2).isNewer(than: order(-1, 1), at: now))
        #expect(order(-1, 2).isNewer(than: order(-1, 1), at: now) && !order(-1, 1).isNewer(than: order(-1, 1), at: now))
        #expect(!order(1, 1).isNewer(than: order(0, 2), at: now))
    }
}
