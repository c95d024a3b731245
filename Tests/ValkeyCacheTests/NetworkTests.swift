#if Valkey
    import Foundation
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("A server on the network", .bounded, .enabled(if: RedisServer.isInstalled))
    struct NetworkTests {
        /// Does everything once, and expects that it takes effect on both sides.
        private func exchange(_ url: String) async throws {
            let one = try await ValkeyURLCache.test(url).connected()
            let other = try await ValkeyURLCache.test(url).connected()
            for number in 0..<20 {
                let url = "https://example.com/\(number)"
                try one.put(Sample.body(1000 * number), url: url)
                #expect(other.bodies(url) == [Sample.body(1000 * number)])
            }
            try one.put(Sample.body(30_000), selecting: [("Accept", "a")])
            #expect(other.bodies() == [Sample.body(30_000)])
            let entry = try #require(one.entries(for: Sample.url).first)
            #expect(one.update(entry, to: Sample.response([("ETag", "\"2\"")], selecting: [("Accept", "b")])))
            try await waitUntil("updated") { other.entries(for: Sample.url).first?.response.fields["ETag"] == "\"2\"" }
            #expect(other.bodies() == [Sample.body(30_000)])
            one.remove(try #require(one.entries(for: Sample.url).first))
            try await waitUntil("removed") { other.bodies().isEmpty }
            one.removeEntries(for: "https://example.com/1")
            try await waitUntil("removed") { other.bodies("https://example.com/1").isEmpty }
            guard case .granted(let lease) = one.lease("key", for: 600) else { throw LinkFailure.malformed("no lease") }
            #expect(other.lease("key", for: 600) == .held)
            let ends = Collector<LeaseEnd>()
            _ = other.waitForRelease(of: "key", atMost: 600) { ends.append($0) }
            one.release(lease)
            try await waitUntil("woken") { ends.elements.count == 1 }
            one.removeAll()
            try await waitUntil("removed") { other.bodies("https://example.com/2").isEmpty }
            #expect(one.statistics.failures == 0 && other.statistics.failures == 0)
        }

        @Test("is used over TCP")
        func network() async throws {
            let (server, port, _) = try RedisServer.onNetwork(isCluster: false)
            try await exchange("redis://127.0.0.1:\(port)")
            server.stop()
        }

        @Test("has no idle connections any more when its name has another address")
        func otherAddress() async throws {
            let (server, port, _) = try RedisServer.onNetwork(isCluster: false)
            let shared = SharedServer(try ServerAddress("redis://127.0.0.1:\(port)"), limit: 60) { _ in }
            _ = try shared.connect(within: 60)
            _ = try shared.run([Command(["DBSIZE"])])
            let clients = { try server.run("CLIENT", "LIST").text?.split(separator: "\n").count }
            #expect(try clients() == 2)  // and the connection that asks
            shared.didResolve(.socket("/nonexistent"))
            try await waitUntil("closed") { (try? clients()) == 1 }
            shared.close()
        }

        @Test("is found at the first of its addresses that answers")
        func addresses() throws {
            let (server, port, _) = try RedisServer.onNetwork(isCluster: false)
            #expect(try NameService.addresses(of: "127.0.0.1") == ["127.0.0.1"])
            let shared = SharedServer(try ServerAddress("redis://127.0.0.1:\(port)"), limit: 60) { _ in }
            let endpoints = ["/nonexistent", server.socket, "/also nonexistent"].map(Connection.Endpoint.socket)
            #expect(try shared.connect(toFirstOf: endpoints, within: 180).endpoint == endpoints[1])
            #expect(try shared.run([Command(["DBSIZE"])]) == [.number(0)])
            shared.close()
        }

        @Test("is a cluster: each command has keys of one slot")
        func cluster() async throws {
            let (server, port, _) = try RedisServer.onNetwork(isCluster: true)
            try server.run("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
            try await waitUntil("it has its slots") {
                (try? server.run("CLUSTER", "INFO"))?.text?.contains("cluster_state:ok") == true
            }
            try await exchange("redis://127.0.0.1:\(port)")
        }

        @Test("grants the lease of a process that was killed to another", .enabled(if: ChildProcess.isAvailable))
        func killedHolder() async throws {
            let server = try RedisServer()
            let cache = try await ValkeyURLCache.test(server.url).connected()
            let child = try ChildProcess("shared-lease", directory: server.directory, [600_000])
            #expect(child.line() == "granted")
            #expect(cache.lease("key", for: 600) == .held)
            child.kill()
            // The lease ends by itself. Not in ten minutes, but soon, however long the steps above took.
            let key = cache.level.keys.lease("key")
            #expect(try (1...600_000).contains(server.run("PTTL", key).number ?? 0))
            #expect(try server.run("PEXPIRE", key, "500").number == 1)
            let ends = Collector<LeaseEnd>()
            _ = cache.waitForRelease(of: "key", atMost: 600) { ends.append($0) }
            try await waitUntil("expired") { ends.elements == [.vacant] }
            guard case .granted = cache.lease("key", for: 600) else { throw LinkFailure.malformed("no lease") }
        }
    }
#endif
