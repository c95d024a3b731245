#if Valkey
    import Foundation
    import HTTPCaching
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Which changes are announced", .bounded, .enabled(if: RedisServer.isInstalled))
    struct AnnouncementTests {
        private let server: RedisServer
        private let one: ValkeyURLCache
        private let other: ValkeyURLCache

        init() async throws {
            server = try RedisServer()
            one = try await ValkeyURLCache.test(server.url).connected()
            other = try await ValkeyURLCache.test(server.url).connected()
        }

        /// A response that was fresh for ten minutes when it was `age` seconds younger.
        private func response(age: Int, tag: Int = 1) -> StoredResponse {
            Sample.response([("Cache-Control", "max-age=600"), ("Age", "\(age)"), ("ETag", "\(tag)")])
        }

        private func tag(of cache: ValkeyURLCache) -> String? {
            cache.entries(for: Sample.url).first?.response.fields["ETag"]
        }

        @Test(
            "the replacement of the only entry is announced while a machine may use its copy, and else found by asking",
            arguments: [(0, true), (700, false)])
        func expired(age: Int, isAnnounced: Bool) async throws {
            let key = URLDigest.key(Sample.url)
            #expect(one.bodies().isEmpty)
            one.store(response(age: age), as: try Sample.cached(Sample.body(1)))
            #expect(other.bodies() == [Sample.body(1)])
            for number in 2...3 {
                let lookup = other.level.coherence.withLock { $0.begin(key) }
                let new = response(age: age, tag: number)
                let entry = try #require(one.entries(for: Sample.url).first)
                if number == 2 {
                    one.update(entry, to: new)
                } else {
                    one.store(new, as: try Sample.cached(Sample.body(3)))
                }
                if !isAnnounced { #expect(tag(of: other) == "\(number)") }
                try await other.hearsAll(of: one)
                #expect(other.level.coherence.withLock { $0.isCurrent(lookup) } == !isAnnounced)
                other.level.coherence.withLock { $0.end(lookup) }
                #expect(tag(of: other) == "\(number)")
            }
            #expect(other.bodies() == [Sample.body(3)] && one.bodies() == [Sample.body(3)])
        }

        @Test("each machine keeps its own response in memory until it hears that a machine has removed the URL")
        func ownBodies() async throws {
            for cache in [one, other] { _ = cache.entries(for: Sample.url) }
            try one.put(Sample.body(5), policy: .allowedInMemoryOnly)
            #expect(other.bodies().isEmpty)
            try other.put(Sample.body(6), policy: .allowedInMemoryOnly)
            try await one.hearsAll(of: other)
            for _ in 0..<3 {
                #expect(one.bodies() == [Sample.body(5)] && other.bodies() == [Sample.body(6)])
            }
            let request = URLRequest(url: try #require(URL(string: Sample.url)))
            one.level.coherence.withLock { $0.forget(URLDigest.key(Sample.url)) }
            #expect(one.cachedResponse(for: request)?.data == Sample.body(5))
            other.removeEntries(for: Sample.url)
            try await one.hearsAll(of: other)
            #expect(one.bodies().isEmpty)
            // A response that is shared replaces both.
            try one.put(Sample.body(5), policy: .allowedInMemoryOnly)
            try other.put(Sample.body(7))
            try await one.hearsAll(of: other)
            #expect(one.bodies() == [Sample.body(7)])
        }

        @Test("a second entry of a URL is announced, although the first has expired")
        func secondEntry() async throws {
            #expect(one.bodies().isEmpty)
            let old = response(age: 700)
            one.store(old, as: try Sample.cached(Sample.body(1)))
            #expect(other.bodies() == [Sample.body(1)])
            try one.put(Sample.body(2), selecting: [("Accept", "a")])
            try await other.hearsAll(of: one)
            #expect(other.bodies() == [Sample.body(2), Sample.body(1)])
            one.store(old, as: try Sample.cached(Sample.body(3)))
            try await other.hearsAll(of: one)
            #expect(other.bodies() == [Sample.body(3), Sample.body(2)])
            let entry = try #require(one.entries(for: Sample.url).first)
            one.update(entry, to: response(age: 700, tag: 4))
            try await other.hearsAll(of: one)
            #expect(tag(of: other) == "4" && other.bodies() == [Sample.body(3), Sample.body(2)])
        }

        @Test("the first entry of a URL is not announced; the replacement of an entry that the server has evicted is")
        func evictedEntry() async throws {
            let key = URLDigest.key(Sample.url)
            for isFirst in [true, false] {
                let lookup = other.level.coherence.withLock { $0.begin(key) }
                try one.put(Sample.body(1))
                try await other.hearsAll(of: one)
                #expect(other.level.coherence.withLock { $0.isCurrent(lookup) } == isFirst)
                other.level.coherence.withLock { $0.end(lookup) }
                let entries = one.level.keys.entries(of: URLDigest(Sample.url), in: try one.level.generation())
                try server.run("DEL", entries, "\(entries):\(SharedEntry.plainVariant)")
            }
        }

        @Test(
            "listeners hear what other machines replace and remove: of a URL, everything, and perhaps something while unconnected"
        )
        func listeners() async throws {
            let heard = Locked<[AnnouncedChange]>([])
            let stop = other.onChange { change in heard.withLock { $0.append(change) } }
            func hears(_ change: AnnouncedChange) async throws {
                try await waitUntil("heard") { heard.withLock { $0.contains(change) } }
                heard.withLock { $0 = [] }
            }
            for number in 1...2 { try one.put(Sample.body(number)) }
            try await hears(.changed(url: Sample.url))
            one.removeEntries(for: Sample.url)
            try await hears(.removed(url: Sample.url))
            one.removeAllCachedResponses()
            try await hears(.removedAll)
            try server.run("CLIENT", "KILL", "TYPE", "pubsub")
            try await hears(.removedAll)
            _ = try await one.connected()
            stop()
            one.removeEntries(for: Sample.url)
            try await other.hearsAll(of: one)
            #expect(heard.withLock { $0.isEmpty })
        }

        @Test("an expired copy stays when the server has evicted its entry, and goes when the entry was removed")
        func evicted() async throws {
            #expect(one.bodies().isEmpty)
            one.store(response(age: 700), as: try Sample.cached(Sample.body(1)))
            #expect(other.bodies() == [Sample.body(1)])
            try server.evictAll(but: one.level.keys.generation)
            for cache in [one, other] { #expect(cache.bodies() == [Sample.body(1)]) }
            one.removeEntries(for: Sample.url)
            try await other.hearsAll(of: one)
            for cache in [one, other] { #expect(cache.bodies().isEmpty) }
        }
    }
#endif
