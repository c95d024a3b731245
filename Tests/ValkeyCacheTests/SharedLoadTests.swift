#if Valkey
    import Foundation
    import SQLiteCache
    import Synchronizer
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Loads through a shared cache", .bounded, .enabled(if: RedisServer.isInstalled))
    struct SharedLoadTests {
        private let server: RedisServer
        private let directory = DisposableDirectory("shared-loads")

        init() throws {
            server = try RedisServer()
            try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        }

        private func machine(_ name: String, _ origin: StubServer, memory: Int = 0) async throws -> Synchronizer {
            machine(try await cache(name), origin, memory: memory)
        }

        private func cache(_ name: String, time: any TimeSource = SystemTime()) async throws -> ValkeyURLCache {
            let local = SQLiteURLCache(
                memoryCapacity: 1 << 20, diskCapacity: 64 << 20, directory: directory.url.appendingPathComponent(name),
                time: time)
            return try await ValkeyURLCache.test(server.url, local: local, time: time).connected()
        }

        private func machine(
            _ cache: ValkeyURLCache, _ origin: StubServer, memory: Int = 0, time: any TimeSource = SystemTime()
        ) -> Synchronizer {
            var configuration = Synchronizer.Configuration.test(time: time)
            configuration.urlCache = cache
            configuration.memoryCapacity = memory
            return origin.synchronizer(configuration)
        }

        @Test("the second machine sends no request, and the trace names the shared cache")
        func sharing() async throws {
            let origin = StubServer { _ in Reply("hello", fields: ["Cache-Control": "max-age=60"]) }
            let (one, other) = (try await machine("1", origin), try await machine("2", origin))
            let resource = DataResource(url: try #require(URL(string: "https://example.com/a")))
            #expect(try await one.loaded(resource).trace.source == .network)
            let second = try await other.loaded(resource)
            #expect(second.trace.source == .cache && second.trace.isFromSharedCache)
            #expect(second.trace.description.contains("from the shared cache"), "\(second.trace)")
            let third = try await other.loaded(resource)
            #expect(third.trace.source == .cache && !third.trace.isFromSharedCache)
            #expect(origin.requests.count == 1)
        }

        @Test("an invalidation reaches the parsed objects in the memory of the other machine")
        func invalidation() async throws {
            let origin = StubServer { request in Reply("\(request.number)", fields: ["Cache-Control": "max-age=60"]) }
            let one = try await machine("1", origin, memory: 1 << 20)
            let other = try await machine("2", origin, memory: 1 << 20)
            let resource = DataResource(url: try #require(URL(string: "https://example.com/a")))
            _ = try await one.load(resource)
            _ = try await other.load(resource)
            #expect(try await other.loaded(resource).trace.source == .memory)
            one.invalidate(resource)
            while try await other.loaded(resource).trace.source != .network { await Task.yield() }
            #expect(origin.requests.count == 2)
        }

        @Test("a reload reaches the parsed objects in the memory of the other machine")
        func reload() async throws {
            let origin = StubServer { request in Reply("\(request.number)", fields: ["Cache-Control": "max-age=60"]) }
            let one = try await machine("1", origin, memory: 1 << 20)
            let other = try await machine("2", origin, memory: 1 << 20)
            let url = try #require(URL(string: "https://example.com/a"))
            let resource = DataResource(url: url)
            let first = try await one.load(resource)
            #expect(try await other.load(resource) == first)
            #expect(try await other.loaded(resource).trace.source == .memory)
            let request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
            let second = try await one.load(DataResource(request: request))
            while try await other.load(resource) != second { await Task.yield() }
            #expect(first != second && origin.requests.count == 2)
        }

        @Test("a large file stays on the machine that loaded it")
        func files() async throws {
            let body = Sample.body(3 << 20)
            let origin = StubServer { _ in
                Reply(body, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            }
            let (one, other) = (try await machine("1", origin), try await machine("2", origin))
            for (number, machine, requests) in [(1, one, 1), (2, one, 1), (3, other, 2), (4, other, 2)] {
                let file = directory.url.appendingPathComponent("file \(number)")
                let resource = FileResource(url: try #require(URL(string: "https://example.com/large")), to: file)
                _ = try await machine.load(resource)
                #expect(try Data(contentsOf: file) == body)
                #expect(origin.requests.count == requests, "\(number)")
            }
        }

        @Test("each machine keeps its own copy of a large file, even if the other has loaded the file later")
        func replaced() async throws {
            let body = Sample.body(3 << 20)
            let origin = StubServer { request in
                let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
                let isKnown = request.fields["If-None-Match"] == "\"1\""
                return isKnown ? Reply(status: 304, fields: fields) : Reply(body, fields: fields)
            }
            let time = ManualClock(Date())
            let caches = [try await cache("1", time: time), try await cache("2", time: time)]
            let machines = caches.map { machine($0, origin, time: time) }
            let resource = FileResource(
                url: try #require(URL(string: "https://example.com/large")),
                to: directory.url.appendingPathComponent("file"))
            func source(_ machine: Synchronizer) async throws -> LoadSource? {
                try await machine.loaded(resource).trace.source
            }
            for machine in machines { _ = try await machine.load(resource) }
            try await caches[0].hearsAll(of: caches[1])
            #expect(origin.requests.count == 2)
            for _ in 0..<3 {
                for machine in machines { #expect(try await source(machine) == .cache) }
            }
            #expect(origin.requests.count == 2)
            // Stale responses are validated, and the results stay, too.
            time.advance(by: 61)
            for machine in machines { #expect(try await source(machine) == .revalidated) }
            try await caches[0].hearsAll(of: caches[1])
            for machine in machines { #expect(try await source(machine) == .cache) }
            #expect(origin.requests.count == 4)
            #expect(try Data(contentsOf: resource.destination) == body)
            machines[1].invalidate(resource)  // takes effect soon
            while try await source(machines[0]) != .network { await Task.yield() }
            #expect(origin.requests.count == 5)
        }
    }
#endif
