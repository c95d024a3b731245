import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Loading", .bounded)
struct LoadingTests {
    let bench: Workbench
    let synchronizer: Synchronizer

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        bench.server["/fresh"] = Reply("fresh", fields: ["Cache-Control": "max-age=100"])
        bench.server["/json"] = Reply(
            "{\"name\": \"a\", \"numbers\": [1, 2]}", fields: ["Cache-Control": "max-age=100"])
    }

    struct Item: Codable, Hashable, Sendable {
        let name: String
        let numbers: [Int]
    }

    /// Counts its parses.
    struct Counted: Resource {
        let url: URL
        let parses: Locked<Int>
        var variant: ResourceVariant = .standard
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Int {
            { data in
                parses.withLock { $0 += 1 }
                return data.count
            }
        }
    }

    @Test("an object in memory is delivered before loadResource returns, on the main actor")
    @MainActor func synchronousHit() async throws {
        let resource = DataResource(url: bench.server.url("/fresh"))
        #expect(synchronizer.cachedObject(for: resource) == nil)
        _ = try await synchronizer.load(resource)
        #expect(synchronizer.cachedObject(for: resource) == Data("fresh".utf8))
        var given: Data?
        synchronizer.loadResource(resource) { result in
            if case .success(let data) = result { given = data }
        }
        #expect(given == Data("fresh".utf8))
        #expect(try await synchronizer.loaded(resource).source == .memory)
        #expect(bench.server.counts.requests == 1)
    }

    @Test("an object in memory does not outlive its response")
    func freshness() async throws {
        let resource = DataResource(url: bench.server.url("/fresh"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 101)
        #expect(synchronizer.cachedObject(for: resource) == nil)
        var any = resource.request()
        any.cachePolicy = .returnCacheDataElseLoad
        #expect(synchronizer.cachedObject(for: DataResource(request: any)) != nil)
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("an object that was loaded at any age does not count as fresh later")
    func anyAgeOnce() async throws {
        let resource = DataResource(url: bench.server.url("/fresh"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 101)
        synchronizer.removeAllObjects()
        var any = resource.request()
        any.cachePolicy = .returnCacheDataElseLoad
        #expect(try await synchronizer.loaded(DataResource(request: any)).source == .cache)
        #expect(synchronizer.cachedObject(for: DataResource(request: any)) != nil)
        #expect(synchronizer.cachedObject(for: resource) == nil)
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("JSON is decoded, with the default decoder and with one's own")
    func json() async throws {
        let item = try await synchronizer.load(JSONResource<Item>(url: bench.server.url("/json")))
        #expect(item == Item(name: "a", numbers: [1, 2]))
        #expect(bench.server.requests.first?["Accept"] == "application/json")
        bench.server["/snake"] = Reply("{\"first_name\": \"b\"}")
        struct Snake: Decodable, Sendable { let firstName: String }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let snake = try await synchronizer.load(JSONResource<Snake>(url: bench.server.url("/snake"), decoder: decoder))
        #expect(snake.firstName == "b")
    }

    @Test("10,000 loads of one URL make one request and one parse")
    func coalescing() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("abc").waiting(for: gate, .beforeHead)
        let resource = Counted(url: bench.server.url("/a"), parses: Locked(0))
        let answers = Collector<Int>()
        for _ in 0..<10_000 {
            synchronizer.loadResource(resource, on: .global()) { result in
                if case .success(let count) = result { answers.append(count) }
            }
        }
        try await gate.waitForArrivals(1)
        gate.open()
        #expect(try await answers.wait(for: 10_000) == Array(repeating: 3, count: 10_000))
        #expect(bench.server.counts.requests == 1)
        #expect(resource.parses.withLock { $0 } == 1)
    }

    @Test("two parses of one response share the request")
    func variants() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("abc").waiting(for: gate, .beforeHead)
        let parses = Locked(0)
        let answers = Collector<Int>()
        for variant in ["small", "large", "small", "large"] {
            let resource = Counted(url: bench.server.url("/a"), parses: parses, variant: ResourceVariant(variant))
            synchronizer.loadResource(resource, on: .global()) { result in
                if case .success(let count) = result { answers.append(count) }
            }
        }
        try await gate.waitForArrivals(1)
        gate.open()
        try await answers.wait(for: 4)
        #expect(bench.server.counts.requests == 1)
        #expect(parses.withLock { $0 } == 2)
    }

    @Test("two tokens get two responses, in flight and from memory")
    func tokens() async throws {
        bench.server.handle("/me") { request in
            Reply(request["Authorization"] ?? "nobody", fields: ["Cache-Control": "max-age=100"])
        }
        func load(_ token: String) async throws -> String {
            var request = URLRequest(url: bench.server.url("/me"))
            request.setValue(token, forHTTPHeaderField: "Authorization")
            return String(decoding: try await synchronizer.load(DataResource(request: request)), as: UTF8.self)
        }
        for _ in 0..<2 {
            async let one = load("one")
            async let other = load("other")
            #expect(try await (one, other) == ("one", "other"))
        }
    }

    @Test("unsafe methods are never shared")
    func unsafeMethods() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("done").waiting(for: gate, .beforeHead)
        let answers = Collector<Bool>()
        for _ in 0..<3 {
            var request = URLRequest(url: bench.server.url("/a"))
            request.httpMethod = "POST"
            request.httpBody = Data("x".utf8)
            synchronizer.loadResource(DataResource(request: request), on: .global()) { _ in answers.append(true) }
        }
        try await gate.waitForArrivals(3)
        gate.open()
        try await answers.wait(for: 3)
        #expect(bench.server.requests.map(\.method) == ["POST", "POST", "POST"])
    }

    /// 5,000 in a soak.
    @Test("500 loads at once from 8 threads, half of them cancelled: each is delivered at most once, none is lost")
    func many() async throws {
        let count = Soak.count(500, inSoak: 5_000)
        bench.server.handle("/many") { request in Reply(request.target, fields: ["Cache-Control": "max-age=100"]) }
        let calls = Locked([Int](repeating: 0, count: count))
        let wrong = Locked(0)
        let kept = Collector<Int>()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(thread))
                    for number in stride(from: thread, to: count, by: 8) {
                        let target = "/many?\(number % 100)"
                        let isCancelled = Bool.random(using: &generator)
                        let url = bench.server.url(target)
                        let cancel = synchronizer.loadResource(DataResource(url: url), on: .global()) { result in
                            calls.withLock { $0[number] += 1 }
                            if case .success(let data) = result, data == Data(target.utf8) {
                            } else {
                                wrong.withLock { $0 += 1 }
                            }
                            if !isCancelled { kept.append(number) }
                        }
                        if isCancelled { cancel() }
                    }
                }
            }
        }
        var expected = 0
        for thread in 0..<8 {
            var generator = SeededGenerator(seed: UInt64(thread))
            for _ in stride(from: thread, to: count, by: 8) where !Bool.random(using: &generator) { expected += 1 }
        }
        let answered = try await kept.wait(for: expected)
        #expect(Set(answered).count == expected)
        #expect(calls.withLock { $0.allSatisfy { $0 <= 1 } })
        #expect(wrong.withLock { $0 } == 0)
    }

    @Test("fragments do not tell loads apart: they are not sent")
    func fragments() async throws {
        let (one, other) = (bench.server.url("/fresh#one"), bench.server.url("/fresh#other"))
        _ = try await synchronizer.load(DataResource(url: one))
        #expect(synchronizer.cachedObject(for: DataResource(url: other)) == Data("fresh".utf8))
        #expect(synchronizer.cachedObject(for: DataResource(url: bench.server.url("/fresh"))) != nil)
        #expect(bench.server.requests.map(\.target) == ["/fresh"])
    }

    @Test("a trace from memory has the age, and no repetitions")
    func traces() async throws {
        bench.server["/swr"] = Reply("a", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=100"])
        let resource = DataResource(url: bench.server.url("/swr"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 4)
        let trace = try await synchronizer.loaded(resource).trace
        #expect(trace.source == .memory)
        #expect(trace.age == 4)
        #expect(trace.lifetime == 10)
        bench.clock.advance(by: 16)
        let stale = try await synchronizer.loaded(resource).trace.description
        #expect(stale.hasPrefix("stale: age 20 s of 10 s"))
        #expect(stale.components(separatedBy: "stale:").count == 2)
    }

    @Test("the memory's limits of count and age are the configuration's")
    func memoryLimits() async throws {
        let synchronizer = bench.synchronizer { configuration in
            configuration.memoryCountLimit = 2
            configuration.memoryAgeLimit = 30
        }
        bench.server.handle("/n") { request in Reply(request.target, fields: ["Cache-Control": "max-age=100"]) }
        let resources = (0..<3).map { DataResource(url: bench.server.url("/n?\($0)")) }
        for resource in resources { _ = try await synchronizer.load(resource) }
        #expect(resources.map { synchronizer.cachedObject(for: $0) != nil } == [false, true, true])
        bench.clock.advance(by: 31)
        #expect(resources.map { synchronizer.cachedObject(for: $0) != nil } == [false, false, false])
    }

    /// Whose objects are of types that only the parse knows.
    struct Described: Resource {
        let url: URL
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> any CustomStringConvertible & Sendable { { $0.count } }
    }

    @Test("an object may be known by a protocol, from the network and from memory")
    @MainActor func existential() async throws {
        let resource = Described(url: bench.server.url("/fresh"))
        for _ in 0..<2 { #expect(try await synchronizer.load(resource).description == "5") }
        #expect(synchronizer.cachedObject(for: resource)?.description == "5")
        var given: String?
        synchronizer.loadResource(resource) { result in
            if case .success(let object) = result { given = object.description }
        }
        #expect(given == "5")
    }
}
