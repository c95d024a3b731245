#if Valkey
    import Foundation
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("The generation of a shared cache", .bounded)
    struct GenerationTests {
        @Test("is read now and then without any lookup, so that the server does not evict it as unused")
        func use() async throws {
            let reads = Locked(0)
            let server = try FakeServer { command in
                if command[0] == "GET", command[1].hasSuffix(":generation") { reads.withLock { $0 += 1 } }
                return nil
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            try await waitUntil("read when it connects, and twice after that") { reads.withLock { $0 } == 3 }
            #expect(cache.statistics.failures == 0)
        }

        @Test("is soon missed if everything is deleted on the server", .enabled(if: RedisServer.isInstalled))
        func deletion() async throws {
            let server = try RedisServer()
            let cache = try await ValkeyURLCache.test(server.url).connected()
            try cache.put(Sample.body(5))
            #expect(cache.bodies() == [Sample.body(5)])
            try server.run("FLUSHALL")
            try await waitUntil("missed") { cache.bodies().isEmpty }
        }
    }
#endif
