#if Valkey
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("A shared cache whose server fails", .bounded, .enabled(if: RedisServer.isInstalled))
    struct FailureTests {
        @Test("without a server the local level answers, and one line says so")
        func noServer() async throws {
            let lines = Lines()
            let cache = try ValkeyURLCache.test("unix:///nonexistent/socket", reports: lines)
            for number in 0..<20 {
                try cache.put(Sample.body(number))
                #expect(cache.bodies() == [Sample.body(number)])
            }
            cache.removeEntries(for: Sample.url)
            #expect(cache.bodies().isEmpty && cache.statistics.pendingRemovals == 1)
            try await waitUntil("logged") { !lines.all.isEmpty }
            #expect(lines.all.count == 1 && lines.all[0].contains("/nonexistent/socket"))
        }

        @Test("a wrong password is one line, without the password; the right one works, with and without a user")
        func passwords() async throws {
            let server = try RedisServer("--requirepass", "se:cret")
            try server.run("ACL", "SETUSER", "app", "on", ">p@ss", "~*", "&*", "+@all", password: "se:cret")
            let lines = Lines()
            let wrong = try ValkeyURLCache.test("unix://:wr0ng@\(server.socket)", reports: lines)
            try await waitUntil("logged") { !lines.all.isEmpty }
            try wrong.put(Sample.body(5))
            #expect(wrong.bodies() == [Sample.body(5)])
            #expect(lines.all.count == 1 && !lines.all[0].contains("wr0ng"), "\(lines.all)")
            let one = try await ValkeyURLCache.test("unix://:se%3Acret@\(server.socket)").connected()
            let other = try await ValkeyURLCache.test("unix://app:p%40ss@\(server.socket)?db=0").connected()
            try one.put(Sample.body(6))
            #expect(other.bodies() == [Sample.body(6)])
        }

        @Test("a user who may not hear of removals gets nothing from the server, and one line says so")
        func refusedChannel() async throws {
            let server = try RedisServer()
            try server.run("ACL", "SETUSER", "app", "on", ">pass", "~*", "resetchannels", "+@all")
            let one = try await ValkeyURLCache.test(server.url).connected()
            let lines = Lines()
            let other = try ValkeyURLCache.test("unix://app:pass@\(server.socket)", reports: lines)
            try await waitUntil("logged") { !lines.all.isEmpty }
            #expect(lines.all.count == 1 && lines.all[0].contains("NOPERM"), "\(lines.all)")
            try one.put(Sample.body(5))
            #expect(other.bodies().isEmpty && !other.statistics.isConnected)
            try other.put(Sample.body(6))
            #expect(other.bodies() == [Sample.body(6)] && one.bodies() == [Sample.body(5)])
            try server.run("ACL", "SETUSER", "app", "&test:*")
            _ = try await other.connected()
            #expect(other.bodies() == [Sample.body(5)])
            one.removeEntries(for: Sample.url)
            try await waitUntil("removed") { other.bodies().isEmpty }
            #expect(lines.all.count == 1, "\(lines.all)")
        }

        @Test("the permissions that the guide names are enough")
        func permissions() async throws {
            let server = try RedisServer()
            try server.run(
                "ACL", "SETUSER", "app", "on", ">pass", "resetchannels", "~test:*", "&test:*", "-@all", "+@read",
                "+@write", "+@scripting", "+@pubsub", "+@connection", "+time")
            let lines = Lines()
            let one = try await ValkeyURLCache.test("unix://app:pass@\(server.socket)", reports: lines).connected()
            let other = try await ValkeyURLCache.test("unix://app:pass@\(server.socket)", reports: lines).connected()
            try one.put(Sample.body(5))
            #expect(other.bodies() == [Sample.body(5)])
            guard case .granted(let lease) = one.lease("key", for: 600) else { throw LinkFailure.malformed("no lease") }
            let ends = Collector<LeaseEnd>()
            _ = other.waitForRelease(of: "key", atMost: 600) { ends.append($0) }
            one.release(lease)
            try await waitUntil("woken") { ends.elements.count == 1 }
            one.removeEntries(for: Sample.url)
            try await waitUntil("removed") { other.bodies().isEmpty }
            one.removeAll()
            #expect(one.statistics.pendingRemovals == 0 && lines.all.isEmpty, "\(lines.all)")
        }

        @Test("a value that is too large to be read is removed, and other URLs are still shared")
        func unreadable() async throws {
            let server = try RedisServer()
            let lines = Lines()
            let one = try await ValkeyURLCache.test(server.url, reports: lines).connected()
            try one.put(Sample.body(7), url: "https://example.com/good")
            let key = one.level.keys.entries(of: URLDigest(Sample.url), in: try one.level.generation())
            let script = "for i = 1, 9000 do redis.call('HSET', KEYS[1], i, i) end"
            try server.run("EVAL", script, "1", key)
            for _ in 0..<5 { #expect(one.bodies().isEmpty) }
            #expect(try server.run("EXISTS", key).number == 0)
            #expect(!one.level.server.isPausing && one.statistics.failures == 1 && lines.all.count == 1)
            let other = try await ValkeyURLCache.test(server.url).connected()
            #expect(other.bodies("https://example.com/good") == [Sample.body(7)])
        }

        @Test("all corrupt fields of a value are removed at once")
        func manyCorrupt() async throws {
            let commands = Locked<[[String]]>([])
            let server = try FakeServer { command in
                if ["HDEL", "UNLINK"].contains(command.first) { commands.withLock { $0.append(command) } }
                guard command.first == "HGETALL" else { return command.first == "HDEL" ? .bytes(":0\r\n") : nil }
                return .bytes("*128\r\n" + String(repeating: "$1\r\na\r\n", count: 128))
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            #expect(cache.bodies().isEmpty && cache.statistics.corruptEntriesDropped == 64)
            #expect(commands.withLock { $0.map(\.count) } == [66, 65])
        }

        @Test("a full server: responses stay local, removals take effect")
        func full() async throws {
            let server = try RedisServer()
            let lines = Lines()
            let one = try await ValkeyURLCache.test(server.url, reports: lines).connected()
            let other = try await ValkeyURLCache.test(server.url).connected()
            try one.put(Sample.body(5))
            #expect(other.bodies() == [Sample.body(5)])
            try server.run("CONFIG", "SET", "maxmemory", "1")
            try one.put(Sample.body(6), url: "https://example.com/2")
            try one.put(Sample.body(7), url: "https://example.com/3")
            #expect(one.bodies("https://example.com/2") == [Sample.body(6)])
            #expect(other.bodies("https://example.com/2").isEmpty)
            #expect(lines.all.count == 1 && lines.all[0].contains("OOM"), "\(lines.all)")
            one.removeEntries(for: Sample.url)
            #expect(one.statistics.pendingRemovals == 0)
            try await waitUntil("removed") { other.bodies().isEmpty }
            try server.run("CONFIG", "SET", "maxmemory", "0")
            try one.put(Sample.body(7), url: "https://example.com/4")
            #expect(other.bodies("https://example.com/4") == [Sample.body(7)])
            try server.run("CONFIG", "SET", "maxmemory", "1")
            one.removeAll()
            #expect(one.statistics.pendingRemovals == 0)
            try await waitUntil("removed") { other.bodies("https://example.com/4").isEmpty }
            try server.run("CONFIG", "SET", "maxmemory", "0")
            try one.put(Sample.body(8))
            #expect(other.bodies() == [Sample.body(8)])
        }

        @Test("refused stores are one line, although removals succeed in between")
        func refusedStores() async throws {
            let server = try RedisServer()
            let lines = Lines()
            let cache = try await ValkeyURLCache.test(server.url, reports: lines).connected()
            try cache.put(Sample.body(5))
            try server.run("CONFIG", "SET", "maxmemory", "1")
            for number in 0..<5 {
                try cache.put(Sample.body(5), url: "https://example.com/\(number)")
                cache.removeEntries(for: "https://example.com/\(number)")
                #expect(cache.statistics.pendingRemovals == 0)
            }
            #expect(lines.all.count == 1 && lines.all[0].contains("OOM"), "\(lines.all)")
        }

        @Test("a removal waits for the removals of other threads no longer than for the server")
        func busy() async throws {
            let server = try RedisServer()
            let one = try await ValkeyURLCache.test(server.url, wait: 0.5).connected()
            one.level.deliveries.wait()  // as if another thread told the server of its removal
            one.removeEntries(for: Sample.url)
            #expect(one.statistics.pendingRemovals == 1)
            one.level.deliveries.signal()
            try await waitUntil("delivered") { one.statistics.pendingRemovals == 0 }
        }

        @Test("a replica: responses stay local, removals wait for a server that takes them")
        func replica() async throws {
            let server = try RedisServer()
            let lines = Lines()
            let one = try await ValkeyURLCache.test(server.url, reports: lines).connected()
            try one.put(Sample.body(5))
            try server.run("REPLICAOF", "127.0.0.1", "1")
            let other = try await ValkeyURLCache.test(server.url).connected()
            #expect(other.bodies() == [Sample.body(5)])
            try other.put(Sample.body(6), url: "https://example.com/2")
            #expect(other.bodies("https://example.com/2") == [Sample.body(6)])
            one.removeEntries(for: Sample.url)
            #expect(one.bodies().isEmpty && one.statistics.pendingRemovals == 1)
            try server.run("REPLICAOF", "NO", "ONE")
            try await waitUntil("delivered") { one.statistics.pendingRemovals == 0 }
            try await waitUntil("removed") { other.bodies().isEmpty }
            #expect(lines.all.count == 1 && lines.all[0].contains("READONLY"), "\(lines.all)")
        }

        @Test("a server that stands still: calls return, removals reach it later")
        func paused() async throws {
            let server = try RedisServer()
            let one = try await ValkeyURLCache.test(server.url, wait: 0.5).connected()
            let other = try await ValkeyURLCache.test(server.url).connected()
            try await waitUntil("stored") {
                _ = try? one.put(Sample.body(5))
                return other.bodies() == [Sample.body(5)]
            }
            server.pause()
            one.removeEntries(for: Sample.url)
            #expect(one.bodies().isEmpty)
            for number in 0..<10 {
                try one.put(Sample.body(number), url: "https://example.com/\(number)")
                #expect(one.bodies("https://example.com/\(number)") == [Sample.body(number)])
            }
            #expect(one.statistics.pendingRemovals == 1)
            server.resume()
            try await waitUntil("delivered") { one.statistics.pendingRemovals == 0 }
            try await waitUntil("removed") { other.bodies().isEmpty }
        }

        @Test("a server that starts again without its data: nothing from before is used, and it fills again")
        func restarted() async throws {
            let server = try RedisServer()
            let one = try await ValkeyURLCache.test(server.url).connected()
            let other = try await ValkeyURLCache.test(server.url).connected()
            try one.put(Sample.body(5))
            #expect(other.bodies() == [Sample.body(5)])
            server.stop()
            try await waitUntil("lost") { !one.statistics.isConnected && !other.statistics.isConnected }
            #expect(other.bodies() == [Sample.body(5)])  // alone, because no process can have removed it since
            try server.start()
            try await waitUntil("back") { one.statistics.isConnected && other.statistics.isConnected }
            #expect(other.bodies().isEmpty)
            try one.put(Sample.body(6))
            #expect(other.bodies() == [Sample.body(6)])
        }

        @Test("a response that was stored while the server was away is forgotten when it is back")
        func storedAlone() async throws {
            let server = try RedisServer()
            let one = try await ValkeyURLCache.test(server.url).connected()
            server.stop()
            try await waitUntil("lost") { !one.statistics.isConnected }
            try one.put(Sample.body(5))
            #expect(one.bodies() == [Sample.body(5)])
            try server.start()
            try await waitUntil("back") { one.statistics.isConnected }
            #expect(one.bodies().isEmpty)
        }

        @Test("on the main thread no call waits for the server, and changes reach it soon")
        @MainActor func mainThread() async throws {
            let server = try RedisServer()
            let one = try await ValkeyURLCache.test(server.url).connected()
            let other = try await ValkeyURLCache.test(server.url).connected()
            let request = URLRequest(url: try #require(URL(string: Sample.url)))
            server.pause()
            try #require(MainQueue.mustNotBlock)
            #expect(one.cachedResponse(for: request) == nil)
            one.storeCachedResponse(try Sample.cached(Sample.body(5)), for: request)
            #expect(one.cachedResponse(for: request)?.data == Sample.body(5))
            server.resume()
            one.flush()
            #expect(await background { other.bodies() } == [Sample.body(5)])
            server.pause()
            one.removeCachedResponse(for: request)
            #expect(one.cachedResponse(for: request) == nil)
            server.resume()
            while await background({ !other.bodies().isEmpty }) { await Task.yield() }
        }

        private func background<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: body()) }
            }
        }
    }
#endif
