#if Valkey
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Two machines with one server", .bounded, .enabled(if: RedisServer.isInstalled))
    struct SharingTests {
        private let server: RedisServer
        private let one: ValkeyURLCache
        private let other: ValkeyURLCache

        init() async throws {
            server = try RedisServer()
            one = try await ValkeyURLCache.test(server.url).connected()
            other = try await ValkeyURLCache.test(server.url).connected()
        }

        @Test(
            "one finds what the other stores, first on the server and then locally",
            arguments: [0, 1, 20_000, 100_000, 1 << 20])
        func sharing(_ size: Int) throws {
            let body = Sample.body(size)
            let id = try #require(try one.put(body))
            let found = other.entries(for: Sample.url)
            #expect(found.map(\.id) == [id] && found.map(\.isFromSharedLevel) == [true])
            #expect(found.first?.response == one.entries(for: Sample.url).first?.response)
            #expect(found.first.flatMap { $0.body ?? other.body(of: $0) } == body)
            #expect(other.bodies() == [body])
            #expect(other.entries(for: Sample.url).map(\.isFromSharedLevel) == [false])
            #expect(other.entries(for: Sample.url).map(\.id) == [id])
            #expect(other.statistics.localHits > 0 && other.statistics.sharedHits > 0)
            #expect(one.statistics.failures == 0 && other.statistics.failures == 0)
        }

        @Test("the methods of URLCache do the same")
        func urlCache() async throws {
            let request = URLRequest(url: try #require(URL(string: Sample.url)))
            let body = Sample.body(300)
            #expect(one.cachedResponse(for: request) == nil)
            one.storeCachedResponse(try Sample.cached(body), for: request)
            for cache in [one, other, other] {
                let found = try #require(cache.cachedResponse(for: request))
                #expect(found.data == body)
                #expect((found.response as? HTTPURLResponse)?.statusCode == 200)
            }
            var authorized = request
            authorized.setValue("Bearer 1", forHTTPHeaderField: "Authorization")
            #expect(other.cachedResponse(for: authorized) == nil)
            other.storeCachedResponse(try Sample.cached(Sample.body(5)), for: authorized)
            try await waitUntil("announced") { one.cachedResponse(for: authorized)?.data == Sample.body(5) }
            #expect(one.cachedResponse(for: request)?.data == body)
            other.removeCachedResponse(for: request)
            #expect(other.cachedResponse(for: request) == nil && other.cachedResponse(for: authorized) == nil)
        }

        @Test("variants are kept apart, in the order in which they were stored")
        func variants() async throws {
            let bodies = (0..<3).map { Sample.body(40_000, seed: $0) }
            for (index, body) in bodies.enumerated() { try one.put(body, selecting: [("Accept", "\(index)")]) }
            for _ in 0..<3 { #expect(other.bodies() == bodies.reversed()) }
            #expect(other.statistics.corruptEntriesDropped == 0)
            for number in 0..<100 { try one.put(Data(), selecting: [("Accept", "many \(number)")]) }
            try await waitUntil("announced") { other.entries(for: Sample.url).count == 64 }
            #expect(one.entries(for: Sample.url).count == 64)
        }

        @Test("a body that is too large, or for memory only, stays where it was stored")
        func localBodies() async throws {
            try one.put(Sample.body(5))
            #expect(other.bodies() == [Sample.body(5)])
            for (size, policy) in [(1 << 20 + 1, URLCache.StoragePolicy.allowed), (9, .allowedInMemoryOnly)] {
                try one.put(Sample.body(size), policy: policy)
                try await waitUntil("replaced") { other.bodies().isEmpty }
                #expect(one.bodies() == [Sample.body(size)])
                #expect(one.bodies() == [Sample.body(size)])
            }
        }

        @Test("the largest body that a reply can contain is shared, whatever the options say")
        func largest() async throws {
            let cache = try await ValkeyURLCache.test(server.url) { $0.largestSharedBody = .max }.connected()
            #expect(cache.level.limits.sharedBody == 16 << 20)
            let body = Data(repeating: 7, count: 16 << 20)
            #expect(try cache.put(body) != nil)
            let other = try await ValkeyURLCache.test(server.url) { $0.largestSharedBody = 1 << 30 }.connected()
            #expect(other.bodies() == [body])
        }

        @Test("a slow copy does not replace the later response of another process of the machine")
        func slowCopy() async throws {
            let directory = DisposableDirectory("slow-copy")
            let places = try directory.paths(3)
            let locals = places.map { SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 64 << 20, directory: $0) }
            let slow = try await ValkeyURLCache.test(server.url, local: locals[0]).connected()
            let quick = try await ValkeyURLCache.test(server.url, local: locals[1]).connected()
            slow.level.subscription.stop()
            try await waitUntil("its thread has ended") { !slow.statistics.isConnected }
            try one.put(Sample.body(1))
            let lookup = slow.level.coherence.withLock { $0.begin(URLDigest.key(Sample.url)) }
            let found = try slow.level.read(Sample.url, wanting: .newest)
            try quick.put(Sample.body(2))
            quick.flush()
            slow.level.copy(found, insteadOf: [], of: Sample.url, during: lookup)
            slow.flush()
            #expect(locals[2].entries(for: Sample.url).map(\.body) == [Sample.body(2)])
        }

        @Test("an update, a removal of an entry, of a URL and of everything take effect on the other")
        func changes() async throws {
            try one.put(Sample.body(30_000))
            let entry = try #require(other.entries(for: Sample.url).first)
            #expect(other.bodies().count == 1)
            let fields = [("Cache-Control", "max-age=9"), ("ETag", "\"2\"")]
            one.update(try #require(one.entries(for: Sample.url).first), to: Sample.response(fields))
            try await waitUntil("updated") { other.entries(for: Sample.url).first?.response.fields["ETag"] == "\"2\"" }
            #expect(other.bodies() == [Sample.body(30_000)] && other.entries(for: Sample.url).first?.id == entry.id)
            #expect(one.entries(for: Sample.url).first?.response.fields["ETag"] == "\"2\"")

            one.remove(try #require(one.entries(for: Sample.url).first))
            #expect(one.bodies().isEmpty)
            try await waitUntil("removed") { other.bodies().isEmpty }

            for remove in [{ one.removeEntries(for: Sample.url) }, { one.removeAll() }] {
                try one.put(Sample.body(9))
                try await waitUntil("there") { other.bodies() == [Sample.body(9)] }
                #expect(other.bodies() == [Sample.body(9)])
                remove()
                #expect(one.bodies().isEmpty)
                try await waitUntil("removed") { other.bodies().isEmpty }
            }
            try await waitUntil("both are counted") { other.statistics.invalidations == 2 }
        }

        @Test("an update of an entry that the other has removed, or replaced, has no effect")
        func lateUpdate() throws {
            try one.put(Sample.body(5))
            let entry = try #require(one.entries(for: Sample.url).first)
            try other.put(Sample.body(6))
            one.update(entry, to: Sample.response([("ETag", "\"2\"")]))
            #expect(other.bodies() == [Sample.body(6)] && one.bodies() == [Sample.body(6)])
            other.removeEntries(for: Sample.url)
            one.update(entry, to: Sample.response([("ETag", "\"2\"")]))
            #expect(one.bodies().isEmpty && other.bodies().isEmpty)
        }

        @Test("an entry that the server has evicted is still updated locally")
        func evictedUpdate() throws {
            try one.put(Sample.body(5))
            let entry = try #require(one.entries(for: Sample.url).first)
            try server.evictAll(but: one.level.keys.generation)
            #expect(one.update(entry, to: Sample.response([("ETag", "\"2\"")])))
            #expect(one.entries(for: Sample.url).first?.response.fields["ETag"] == "\"2\"")
            #expect(one.bodies() == [Sample.body(5)] && other.bodies().isEmpty)
        }

        @Test("a response that was requested before the other removed its URL is not stored")
        func lateStore() async throws {
            let requested = Date()
            #expect(one.bodies().isEmpty)
            other.removeEntries(for: Sample.url)
            // Whether the announcement has come or not: the server knows the removal.
            #expect(try one.put(Sample.body(1), at: requested.addingTimeInterval(-1)) == nil)
            #expect(one.bodies().isEmpty && other.bodies().isEmpty)
            try await one.hearsAll(of: other)
            #expect(try one.put(Sample.body(2), at: Date().addingTimeInterval(1)) != nil)
            #expect(other.bodies() == [Sample.body(2)])
        }

        @Test("a process that does not know the last removal of a URL stores locally, and shares after its next lookup")
        func unknownRemoval() async throws {
            one.level.subscription.stop()
            try await waitUntil("its thread has ended") { !one.statistics.isConnected }
            let requested = Date()
            one.level.coherence.withLock { $0.connected(at: requested) }  // announcements are late
            other.removeEntries(for: Sample.url)
            #expect(try one.put(Sample.body(1), at: requested) != nil)
            #expect(other.bodies().isEmpty)
            #expect(one.bodies().isEmpty)
            #expect(try one.put(Sample.body(2)) != nil)
            #expect(other.bodies() == [Sample.body(2)])
        }

        @Test("namespaces do not see each other")
        func namespaces() async throws {
            let foreign = try await ValkeyURLCache.test(server.url, namespace: "foreign").connected()
            try one.put(Sample.body(5))
            #expect(foreign.bodies().isEmpty)
            foreign.removeAll()
            #expect(other.bodies() == [Sample.body(5)])
        }

        @Test("a removal that was announced while the connection was lost takes effect when it is back")
        func lostAnnouncement() async throws {
            try one.put(Sample.body(5))
            #expect(other.bodies() == [Sample.body(5)])
            for _ in 0..<3 {
                try server.run("CLIENT", "KILL", "TYPE", "pubsub")
                one.removeEntries(for: Sample.url)
                try await waitUntil("gone") { other.bodies().isEmpty }
                try await waitUntil("back") { one.statistics.isConnected && other.statistics.isConnected }
                try one.put(Sample.body(5))
                try await waitUntil("there") { other.bodies() == [Sample.body(5)] }
            }
        }

        @Test("corrupt values miss, and are removed", arguments: 0..<6)
        func corruption(_ kind: Int) async throws {
            try one.put(Sample.body(300))
            let keys = try #require(try server.run("KEYS", "*{*").array?.compactMap(\.text))
            let hash = try #require(keys.first { $0.hasSuffix("}") })
            let body = try #require(keys.first { !$0.hasSuffix("}") })
            let field = try #require(try server.run("HKEYS", hash).array?.first?.text)
            switch kind {
            case 0: try server.run("HSET", hash, field, "")
            case 1: try server.run("HSET", hash, field, String(repeating: "0", count: 400))
            case 2: try server.run("SETRANGE", body, "17", "xyz")
            case 3: try server.run("DEL", body)
            case 4: try server.run("HSET", hash, "another", try #require(try server.run("HGET", hash, field).text))
            default: try server.run("SET", body, "")
            }
            #expect(kind == 4 ? other.bodies() == [Sample.body(300)] : other.bodies() == [] || kind == 3)
            if kind == 3 { #expect(other.bodies().compactMap { $0 }.isEmpty) }
            #expect(other.statistics.corruptEntriesDropped > 0 || kind == 3)
            try one.put(Sample.body(301))
            try await waitUntil("announced") { other.bodies() == [Sample.body(301)] }
        }

        @Test("a value of another type is removed, and does not keep other URLs from the server", arguments: [0, 1, 2])
        func otherType(_ kind: Int) async throws {
            try one.put(Sample.body(300))
            try one.put(Sample.body(7), url: "https://example.com/good")
            let entries = one.level.keys.entries(of: URLDigest(Sample.url), in: try one.level.generation())
            let key = kind == 2 ? one.level.keys.lease("key") : entries
            try server.run("DEL", key)
            try server.run("LPUSH", key, "garbage")
            for _ in 0..<5 {
                switch kind {
                case 0: #expect(other.bodies().isEmpty)
                case 1: other.removeEntries(for: Sample.url)
                default: _ = other.lease("key", for: 600)
                }
            }
            #expect(!other.level.server.isPausing && other.statistics.failures == 1)
            #expect(other.bodies("https://example.com/good") == [Sample.body(7)])
            try await waitUntil("delivered") { other.statistics.pendingRemovals == 0 }
            try other.put(Sample.body(301))
            #expect(other.bodies() == [Sample.body(301)])
        }

        @Test(
            "the cache tool lists what is on the server, and finds corruption", .enabled(if: ChildProcess.isAvailable))
        func tool() throws {
            try one.put(Sample.body(300))
            try one.put(Sample.body(2 << 20), url: "https://example.com/large")
            let lines = try ChildProcess(program: "synchronizer-cache", [server.url]).rest()
            #expect(lines.count == 4 && lines[1].hasSuffix(Sample.url) && lines[3].hasPrefix("2 responses"), "\(lines)")
            let verified = try ChildProcess(program: "synchronizer-cache", [server.url, "--verify"])
            #expect(verified.rest().last?.hasPrefix("✔") == true)
            let keys = try #require(try server.run("KEYS", "*{*").array?.compactMap(\.text))
            try server.run("SETRANGE", try #require(keys.first { !$0.hasSuffix("}") }), "7", "xyz")
            let arguments = [server.url, "--namespace", "test", "--verify"]
            let corrupt = try ChildProcess(program: "synchronizer-cache", arguments)
            #expect(corrupt.rest().first?.hasPrefix("✘") == true && corrupt.status == 1)
            let foreign = try ChildProcess(program: "synchronizer-cache", [server.url, "--namespace", "none"])
            #expect(foreign.rest().isEmpty && foreign.status == 2)
        }

        @Test("a server that forgets its scripts gets them again")
        func forgottenScripts() throws {
            try one.put(Sample.body(5))
            try server.run("SCRIPT", "FLUSH")
            #expect(other.bodies() == [Sample.body(5)])
            try one.put(Sample.body(6))
            #expect(one.statistics.failures == 0)
        }
    }
#endif
