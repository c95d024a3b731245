#if Valkey
    import Foundation
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Copies of responses that another machine has removed", .bounded, .enabled(if: RedisServer.isInstalled))
    struct RemovedCopyTests {
        private let server: RedisServer
        private let directory = DisposableDirectory("removed-copies")
        private let other: ValkeyURLCache

        init() async throws {
            server = try RedisServer()
            other = try await ValkeyURLCache.test(server.url).connected()
        }

        /// A process that has started again: its directory has a response that another machine has removed since.
        private func restarted() async throws -> ValkeyURLCache {
            let paths = try directory.paths(2)
            let locals = paths.map { SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 64 << 20, directory: $0) }
            let old = try await ValkeyURLCache.test(server.url, local: locals[0]).connected()
            try old.put(Sample.body(1))
            old.flush()
            old.level.subscription.stop()
            try await waitUntil("its thread has ended") { !old.statistics.isConnected }
            other.removeEntries(for: Sample.url)
            return try await ValkeyURLCache.test(server.url, local: locals[1]).connected()
        }

        private func request(_ fields: [String: String] = [:]) throws -> URLRequest {
            var request = URLRequest(url: try #require(URL(string: Sample.url)))
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return request
        }

        @Test("are not used after a store of another response to the same URL")
        func stored() async throws {
            let cache = try await restarted()
            cache.storeCachedResponse(
                try Sample.cached(Sample.body(2)), for: try request(["Authorization": "Bearer 1"]))
            #expect(cache.cachedResponse(for: try request()) == nil)
            #expect(cache.bodies() == [Sample.body(2)])
        }

        @Test("are not used after a store that the server did not get")
        func storedLocally() async throws {
            let cache = try await restarted()
            // Without a lookup, so the response stays local.
            #expect(try cache.put(Sample.body(2), selecting: [("Accept", "a")], at: Date()) != nil)
            server.stop()
            #expect(cache.bodies() == [Sample.body(2)])
        }

        @Test("are not used after a store if only one variant was removed")
        func variant() async throws {
            let cache = try await ValkeyURLCache.test(server.url).connected()
            for number in 1...2 { try cache.put(Sample.body(number), selecting: [("Accept", "\(number)")]) }
            #expect(cache.bodies() == [Sample.body(2), Sample.body(1)])
            other.remove(try #require(other.entries(for: Sample.url).first))
            try await cache.hearsAll(of: other)
            #expect(try cache.put(Sample.body(3), selecting: [("Accept", "1")], at: Date()) != nil)
            #expect(cache.bodies() == [Sample.body(3)])
        }

        @Test("a store on the main thread hides no other variants of the URL")
        @MainActor func mainThread() async throws {
            let cache = try await ValkeyURLCache.test(server.url).connected()
            let url = Sample.url
            await background { [other] in _ = try? other.put(Sample.body(1), selecting: [("Accept", "a")]) }
            cache.storeCachedResponse(try Sample.cached(Sample.body(2)), for: try request())
            cache.flush()
            #expect(await background { cache.bodies(url) } == [Sample.body(2), Sample.body(1)])
        }

        @Test("flush() delivers the removals that were made on the main thread")
        @MainActor func flush() async throws {
            let cache = try await ValkeyURLCache.test(server.url).connected()
            await background { [other] in _ = try? other.put(Sample.body(1)) }
            cache.level.subscription.stop()
            try await waitUntil("its thread has ended") { !cache.statistics.isConnected }
            cache.removeCachedResponse(for: try request())
            #expect(cache.statistics.pendingRemovals == 1)
            cache.flush()
            #expect(cache.statistics.pendingRemovals == 0)
        }

        @Test("a response is shared although the server has forgotten the removal that the process knows")
        func forgottenRemoval() async throws {
            let cache = try await ValkeyURLCache.test(server.url).connected()
            other.removeEntries(for: Sample.url)
            try await cache.hearsAll(of: other)
            for (number, cache) in [cache, other].enumerated() {
                try server.run(
                    "DEL", cache.level.keys.entries(of: URLDigest(Sample.url), in: try cache.level.generation()))
                cache.storeCachedResponse(try Sample.cached(Sample.body(number)), for: try request())
                for reader in [cache, other] { #expect(reader.bodies() == [Sample.body(number)]) }
            }
        }

        @Test("removals in another database of the server do not concern a cache")
        func databases() async throws {
            let (one, two) = (
                try await ValkeyURLCache.test(server.url + "?db=9").connected(),
                try await ValkeyURLCache.test(server.url + "?db=9").connected()
            )
            other.removeEntries(for: Sample.url)
            other.removeAll()
            try await one.hearsAll(of: two)
            #expect(one.statistics.invalidations == 1)  // the marker
        }
    }

    private func background<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
#endif
