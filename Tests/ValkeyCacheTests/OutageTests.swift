#if Valkey
    import Foundation
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("What a process keeps, says and closes around an outage", .bounded)
    struct OutageTests {
        @Test("a server that quotes the password in an error gets no password into the log")
        func quotedPassword() async throws {
            let server = try FakeServer { command in
                guard command[0] == "AUTH" else { return nil }
                return .bytes("-ERR unknown command 'AUTH', with args beginning with: 'se:cret' \r\n")
            }
            let lines = Lines()
            let cache = try ValkeyURLCache.test("unix://:se%3Acret@\(server.path)", reports: lines)
            try await waitUntil("logged") { !lines.all.isEmpty }
            #expect(lines.all.count == 1 && lines.all[0].hasSuffix("it answers ERR to AUTH"), "\(lines.all)")
            #expect(!cache.statistics.isConnected)
        }

        @Test("a response that is updated during an outage goes on answering", .enabled(if: RedisServer.isInstalled))
        func update() async throws {
            let server = try RedisServer()
            let cache = try await ValkeyURLCache.test(server.url).connected()
            try cache.put(Sample.body(5))
            server.stop()
            try await waitUntil("lost") { !cache.statistics.isConnected }
            let entry = try #require(cache.entries(for: Sample.url).first)
            #expect(cache.update(entry, to: Sample.response([("ETag", "\"2\"")])))
            #expect(cache.entries(for: Sample.url).first?.response.fields["ETag"] == "\"2\"")
            #expect(cache.bodies() == [Sample.body(5)])
            try server.start()
            try await waitUntil("back") { cache.statistics.isConnected }
            #expect(cache.bodies().isEmpty)
        }

        @Test("an update makes no response usable that may have been removed", .enabled(if: RedisServer.isInstalled))
        func unusable() async throws {
            let server = try RedisServer()
            let cache = try await ValkeyURLCache.test(server.url).connected()
            try cache.put(Sample.body(5))
            let entry = try #require(cache.entries(for: Sample.url).first)
            server.stop()
            try await waitUntil("lost") { !cache.statistics.isConnected }
            cache.level.coherence.withLock { $0.forget(URLDigest.key(Sample.url)) }
            _ = cache.update(entry, to: Sample.response([("ETag", "\"2\"")]))
            #expect(cache.bodies().isEmpty)
        }

        @Test("listeners hear that everything may have been removed: when the process connects, and after FLUSHALL")
        func listeners() async throws {
            let (gate, isFlushed) = (DispatchSemaphore(value: 0), Locked(false))
            let server = try FakeServer { command in
                if command[0] == "SUBSCRIBE" { gate.wait() }
                let isMissing = command[0] == "GET" && isFlushed.withLock { $0 }
                return isMissing ? .bytes("$-1\r\n") : nil
            }
            let cache = try ValkeyURLCache.test(server.url)
            let heard = Collector<AnnouncedChange>()
            let stop = cache.onChange { heard.append($0) }
            gate.signal()
            try await heard.wait(for: 1)
            isFlushed.withLock { $0 = true }
            try await heard.wait(for: 2)
            #expect(heard.elements.allSatisfy { $0 == .removedAll })
            stop()
        }

        @Test("a server that refuses only the channels of leases is one line, not one for each wait")
        func refusedLeases() async throws {
            let server = try FakeServer { command in
                guard command[0] == "SUBSCRIBE", !command[1].hasSuffix(":changes") else {
                    return command[0] == "PTTL" ? .bytes(":600000\r\n") : nil
                }
                return .bytes("-NOPERM No permissions to access a channel\r\n")
            }
            let lines = Lines()
            let cache = try ValkeyURLCache.test(server.url, reports: lines)
            for _ in 0..<3 {
                _ = try await cache.connected()
                let ends = Collector<LeaseEnd>()
                _ = cache.waitForRelease(of: "key", atMost: 600) { ends.append($0) }
                try await ends.wait(for: 1)
                #expect(ends.elements == [.vacant])
            }
            #expect(lines.all.count == 1 && lines.all[0].contains("NOPERM"), "\(lines.all)")
        }

        @Test("calls that find all connections in use blame no node")
        func busy() async throws {
            let (gate, held) = (DispatchSemaphore(value: 0), Locked(0))
            let node = try FakeServer { _ in nil }
            let main = try FakeServer { command in
                guard command[0] == "GET" else { return nil }
                guard command[1] == "held" else {
                    return .bytes("-MOVED \(ClusterSlot.of(command[1])) 127.0.0.1:\(node.port)\r\n")
                }
                held.withLock { $0 += 1 }
                gate.wait()
                return .bytes("$-1\r\n")
            }
            let lines = Lines()
            let server = SharedServer(try ServerAddress("redis://127.0.0.1:\(main.port)"), limit: 60) { lines.add($0) }
            server.didResolve(try server.connect(within: 60).endpoint)
            let lookup = { @Sendable (key: String, seconds: Double) in
                try server.run([Command(["GET", key], key: key)], within: seconds)
            }
            #expect(try lookup("first", 60).count == 1 && server.isCluster)
            let ended = Locked(0)
            for _ in 0..<SharedServer.mostConnections {
                Thread.detachNewThread {
                    _ = try? lookup("held", 60)
                    ended.withLock { $0 += 1 }
                }
            }
            try await waitUntil("all are in use") { held.withLock { $0 } == SharedServer.mostConnections }
            for _ in 0..<5 { #expect(throws: LinkFailure.busy) { try lookup("first", 0.001) } }
            for _ in 0..<SharedServer.mostConnections { gate.signal() }
            try await waitUntil("ended") { ended.withLock { $0 } == SharedServer.mostConnections }
            #expect(!server.isPausing && server.failures == 5 && lines.all.isEmpty, "\(lines.all)")
            #expect(try lookup("first", 60).count == 1)
            server.close()
        }

        @Test("connections that no call has used for some time are closed")
        func unused() throws {
            let fake = try FakeServer { _ in nil }
            let server = SharedServer(try ServerAddress(fake.url), limit: 60) { _ in }
            _ = try server.run([Command(["GET", "key"])])
            let count = { server.state.withLock { $0.idle.values.joined().count } }
            server.closeUnused()
            #expect(count() == 1)
            server.closeUnused(for: 0)
            #expect(count() == 0)
        }
    }
#endif
