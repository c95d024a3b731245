#if Valkey
    import Foundation
    import HTTPCaching
    import SQLiteCache
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("A server that misbehaves", .bounded)
    struct HostileServerTests {
        /// What lookups, and all scripts, are answered with.
        static let answers: [FakeServer.Answer] = [
            .silence, .cut(""), .cut("*"), .cut("*2\r\n$5\r\nab"), .cut("$10\r\n"), .bytes("garbage\r\n"),
            .bytes("\r\n"),
            .bytes("*1000000000\r\n"), .bytes("*-5\r\n"), .bytes("$-7\r\n"), .bytes("$99999999999999999999\r\n"),
            .bytes("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"), .bytes(":12\r\n"),
            .bytes("$-1\r\n"),
            .bytes("*3\r\n$1\r\na\r\n$1\r\nb\r\n:1\r\n"), .bytes("*4\r\n$1\r\nx\r\n$-1\r\n*0\r\n$3\r\nabc\r\n"),
            .bytes("-ERR no\r\n"), .bytes("-OOM no\r\n"), .bytes("-LOADING no\r\n"), .bytes("-NOSCRIPT no\r\n"),
            .bytes("-MOVED 1 nowhere:1\r\n"), .bytes("-MOVED 1 127.0.0.1:1\r\n"), .bytes("-ASK 1 127.0.0.1:1\r\n"),
            .bytes("-MOVED\r\n"), .bytes("%1\r\n+a\r\n+b\r\n"), .bytes("+" + String(repeating: "x", count: 100_000)),
        ]

        @Test(
            "crashes no client, and the local level answers, whatever it answers to a lookup",
            arguments: answers.indices)
        func lookups(_ index: Int) async throws {
            let server = try FakeServer { command in
                ["EVALSHA", "HGETALL", "GETRANGE"].contains(command.first) ? Self.answers[index] : nil
            }
            let lines = Lines()
            let cache = try await ValkeyURLCache.test(server.url, wait: 0.5, reports: lines).connected()
            for number in 0..<8 {
                let url = "https://example.com/\(number)"
                _ = cache.entries(for: url)
                try cache.put(Sample.body(5), url: url)
                _ = cache.bodies(url)
                let request = URLRequest(url: try #require(URL(string: url)))
                _ = cache.cachedResponse(for: request)
            }
            cache.removeEntries(for: "https://example.com/1")
            #expect(cache.bodies("https://example.com/1").isEmpty)
            if case .granted = cache.lease("key", for: 1) {
                guard case .bytes(let text) = Self.answers[index], text.hasPrefix("$") else {
                    Issue.record("a lease is granted")
                    return
                }
            }
            #expect(lines.all.count <= 2, "\(lines.all)")
        }

        @Test("is not used if its first answers are wrong", arguments: answers.indices)
        func greetings(_ index: Int) async throws {
            let server = try FakeServer { command in
                ["SCRIPT", "GET", "SUBSCRIBE"].contains(command.first) ? Self.answers[index] : nil
            }
            let cache = try ValkeyURLCache.test(server.url, wait: 0.5)
            for number in 0..<8 {
                let url = "https://example.com/\(number)"
                _ = cache.entries(for: url)
                try cache.put(Sample.body(5), url: url)
                #expect(cache.bodies(url) == [Sample.body(5)])
            }
        }

        @Test("a late report that there is no generation does not undo the one that was made in the meantime")
        func lateGeneration() async throws {
            let (gate, isAsked) = (DispatchSemaphore(value: 0), Locked(false))
            let server = try FakeServer { command in
                let isFirst = isAsked.withLock { isAsked in
                    defer { isAsked = isAsked || command.first == "GET" }
                    return !isAsked && command.first == "GET"
                }
                guard isFirst else { return nil }
                gate.wait()
                return .bytes("$-1\r\n")
            }
            let cache = try ValkeyURLCache.test(server.url)
            try await waitUntil("it connects") { isAsked.withLock { $0 } }
            #expect(try cache.level.generation() == "g")
            gate.signal()
            _ = try await cache.connected()
            #expect(cache.level.coherence.withLock { $0.generation } == "g" && cache.statistics.failures == 0)
        }

        @Test("announcements that are garbage are ignored")
        func announcements() async throws {
            let noise = [
                "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\nabc\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n", "*0\r\n", "+OK\r\n",
                ":7\r\n",
                "*3\r\n$7\r\nmessage\r\n$-1\r\n$-1\r\n", "$4\r\nabcd\r\n",
            ].joined()
            let server = try FakeServer { command in
                command.first == "SUBSCRIBE" ? .bytes(FakeServer.confirmation(of: command.last ?? "") + noise) : nil
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            #expect(cache.bodies().isEmpty)
            #expect(cache.statistics.isConnected && cache.statistics.invalidations == 0)
        }

        @Test("a cluster's redirections are followed, and remembered", arguments: ["MOVED", "ASK"])
        func redirections(_ word: String) async throws {
            let asked = Locked(0)
            let node = try FakeServer { command in
                if command.first == "ASKING" { asked.withLock { $0 += 1 } }
                return nil
            }
            let seen = Locked(0)
            let entry = try FakeServer { command in
                guard ["HGETALL", "GETRANGE", "GET"].contains(command.first) else { return nil }
                seen.withLock { $0 += 1 }
                return .bytes("-\(word) \(ClusterSlot.of(command[1])) 127.0.0.1:\(node.port)\r\n")
            }
            let cache = try await ValkeyURLCache.test("redis://localhost:\(entry.port)").connected()
            for _ in 0..<10 { #expect(cache.bodies().isEmpty) }
            #expect(cache.statistics.failures == 0 && cache.statistics.misses == 10)
            let redirected = seen.withLock { $0 }
            #expect(word == "MOVED" ? redirected <= 5 : asked.withLock { $0 } >= 20)
        }

        @Test("a node that has gone is forgotten, and the cluster says which one has its slots now")
        func failover() async throws {
            let isGone = Locked(false)
            let old = try FakeServer { _ in isGone.withLock { $0 } ? .cut("") : nil }
            let new = try FakeServer { _ in nil }
            let entry = try FakeServer { command in
                guard ["HGETALL", "GETRANGE", "GET"].contains(command.first) else { return nil }
                let port = isGone.withLock { $0 } ? new.port : old.port
                return .bytes("-MOVED \(ClusterSlot.of(command[1])) 127.0.0.1:\(port)\r\n")
            }
            let cache = try await ValkeyURLCache.test("redis://localhost:\(entry.port)").connected()
            for number in 0..<4 { #expect(cache.bodies("https://example.com/\(number)").isEmpty) }
            #expect(cache.statistics.failures == 0)
            isGone.withLock { $0 = true }
            #expect(cache.bodies("https://example.com/1").isEmpty && cache.statistics.failures == 1)
            for number in 0..<4 { #expect(cache.bodies("https://example.com/\(number)").isEmpty) }
            #expect(cache.statistics.failures == 1)
        }

        @Test(
            "a response from before the connection came back is kept only if the server takes it",
            arguments: [false, true])
        func missedRemoval(isMainThread: Bool) async throws {
            let server = try FakeServer { command in
                command.first == "EVALSHA" && command.count > 6 ? .bytes("-OOM full\r\n") : nil
            }
            let clock = ManualClock()
            let cache = try await ValkeyURLCache.test(server.url, time: clock).connected()
            #expect(cache.bodies().isEmpty)
            let requested = clock.now
            clock.advance(by: 1)
            cache.level.coherence.withLock { coherence in
                coherence.disconnected()  // removals from now on are not announced
                coherence.connected(at: clock.now)
            }
            let store = { @Sendable in try cache.put(Sample.body(1), at: requested) }
            if isMainThread {
                try await MainActor.run { _ = try store() }
                cache.flush()
            } else {
                #expect(try store() == nil)
            }
            #expect(cache.bodies().isEmpty)
            #expect(try cache.put(Sample.body(2), at: clock.now) != nil)
            #expect(cache.bodies() == [Sample.body(2)])
        }

        @Test("a connection that is silent is noticed while work keeps failing")
        func silence() async throws {
            let pings = Locked(0)
            let server = try FakeServer { command in
                guard command.first == "PING" else { return nil }
                pings.withLock { $0 += 1 }
                return .silence
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            cache.removeEntries(for: Sample.url)  // the answer of the server does not say that it has done it
            #expect(cache.statistics.pendingRemovals == 1)
            try await waitUntil("given up") { cache.statistics.failures > 0 }
            try await waitUntil("it was asked") { pings.withLock { $0 } > 0 }
        }

        @Test("an announcement without an end is a failure")
        func endlessAnnouncement() async throws {
            let endless = "$100000000\r\n" + String(repeating: "x", count: 2 << 20)
            let server = try FakeServer { command in
                command.first == "SUBSCRIBE" ? .bytes(FakeServer.confirmation(of: command.last ?? "") + endless) : nil
            }
            let cache = try ValkeyURLCache.test(server.url)
            try await waitUntil("noticed") { cache.statistics.failures > 0 }
        }

        @Test("the server is told of many pending removals a few at a time")
        func manyRemovals() async throws {
            let server = try FakeServer { $0.first == "EVALSHA" ? .bytes(":1\r\n") : nil }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            let level = cache.level
            level.subscription.stop()
            try await waitUntil("its thread has ended") { !cache.statistics.isConnected }
            level.coherence.withLock { coherence in
                for number in 0..<40 { coherence.addPending("https://example.com/\(number)", token: "token") }
            }
            let left = { level.coherence.withLock { $0.pending.tokens.count } }
            let deliver = { level.deliverRemovals(isRetrying: false) }
            #expect(deliver() == .isLeft && left() == 24)
            cache.removeEntries(for: "https://example.com/more")  // is told by the caller
            #expect(left() == 24 && deliver() == .isLeft && left() == 8)
            #expect(deliver() == .done && left() == 0)
        }

        @Test("redirections in a circle are a failure")
        func circle() async throws {
            let port = Locked(0)
            let server = try FakeServer { command in
                guard command.first == "HGETALL" else { return nil }
                return .bytes("-MOVED \(ClusterSlot.of(command[1])) 127.0.0.1:\(port.withLock { $0 })\r\n")
            }
            port.withLock { $0 = server.port }
            let cache = try await ValkeyURLCache.test("redis://127.0.0.1:\(server.port)").connected()
            #expect(cache.bodies().isEmpty && cache.statistics.failures > 0)
        }

        @Test("idle connections that do not answer cost one call, not one call each")
        func deadConnections() async throws {
            let (asked, isDead) = (Locked<Set<Int>>([]), Locked(false))
            let server = try FakeServer { connection, command in
                guard command.first == "DBSIZE" else { return nil }
                let known = asked.withLock { asked in
                    asked.insert(connection)
                    return asked
                }
                if isDead.withLock({ $0 }) { return known.count > 4 ? .bytes(":2\r\n") : .silence }
                while asked.withLock({ $0.count < 4 }) { sched_yield() }  // so there are four connections
                return .bytes(":1\r\n")
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            let shared = cache.level.server
            let calls = onThreads(4) { _ in _ = try? shared.run([Command(["DBSIZE"])]) }
            await withCheckedContinuation { done in calls.notify(queue: .global()) { done.resume() } }
            isDead.withLock { $0 = true }
            #expect(throws: LinkFailure.timedOut) { try shared.run([Command(["DBSIZE"])], within: 0.001) }
            #expect(try shared.run([Command(["DBSIZE"])], within: 60) == [.number(2)])
        }

        @Test("closing connections that are idle is no failure")
        func idleConnections() async throws {
            let counter = Locked(0)
            let server = try FakeServer { command in
                guard command.first == "GETRANGE" else { return nil }
                return counter.withLock {
                    $0 += 1; return $0
                } % 2 == 1 ? .cut("$0\r\n\r\n") : nil
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            for _ in 0..<20 { #expect(cache.bodies().isEmpty) }
            #expect(cache.statistics.failures == 0)
        }

        @Test("a connection with a surplus reply is not used again")
        func surplus() throws {
            let server = try FakeServer { connection, command in
                command.first == "DBSIZE" ? .bytes(":\(connection)\r\n:99\r\n") : nil
            }
            let shared = SharedServer(try ServerAddress(server.url), limit: 60) { _ in }
            for number in 0..<3 { #expect(try shared.run([Command(["DBSIZE"])]) == [.number(number)]) }
            shared.close()
        }
    }
#endif
