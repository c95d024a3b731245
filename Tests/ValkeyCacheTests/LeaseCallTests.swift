#if Valkey
    import Foundation
    import SQLiteCache
    import Synchronizer
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("What leases ask of a server", .bounded)
    struct LeaseCallTests {
        /// The scripts that grant and release have so many words.
        private static let (grant, release) = (8, 7)
        private static let granted = "*2\r\n:1\r\n$16\r\n0000000000000001\r\n"

        @Test("releasing does not wait for the server", arguments: [true, false])
        func release(isAbandoned: Bool) async throws {
            let (gate, releases) = (DispatchSemaphore(value: 0), Locked(0))
            let server = try FakeServer { command in
                guard command.first == "EVALSHA", command.count >= Self.release else { return nil }
                guard command.count == Self.release else { return .bytes(Self.granted) }
                gate.wait()
                releases.withLock { $0 += 1 }
                return .bytes(":1\r\n")
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            guard case .granted(let lease) = cache.lease("key", for: 600) else {
                throw LinkFailure.malformed("no lease")
            }
            if isAbandoned { cache.abandon(lease) } else { cache.release(lease) }
            gate.signal()
            try await waitUntil("released") { releases.withLock { $0 } == 1 }
            #expect(cache.statistics.failures == 0)
        }

        /// A server that counts the releases, and answers each by its number.
        private static func server(
            counting released: Locked<Int>, answer: @escaping @Sendable (Int) -> FakeServer.Answer
        ) throws -> FakeServer {
            try FakeServer { command in
                guard command.first == "EVALSHA", command.count == release else { return nil }
                return answer(
                    released.withLock { released in
                        released += 1
                        return released
                    })
            }
        }

        @Test("several leases that have ended are released in one call")
        func releases() async throws {
            let released = Locked(0)
            let server = try Self.server(counting: released) { $0 < 3 ? .silence : .bytes(":1\r\n:1\r\n:1\r\n") }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            cache.level.subscription.stop()
            try await waitUntil("its thread has ended") { !cache.statistics.isConnected }
            for token in UInt64(1)...3 { cache.release(Lease(key: "key \(token)", token: token)) }
            cache.flush()
            #expect(released.withLock { $0 } == 3 && cache.statistics.failures == 0)
        }

        @Test(
            "a lease whose call has failed is released once more if the server does not have it yet", arguments: [0, 1])
        func lateGrant(reply: Int) async throws {
            let released = Locked(0)
            let server = try FakeServer { command in
                guard command.first == "EVALSHA" else { return nil }
                guard command.count == Self.release else { return .bytes("-ERR failed\r\n") }
                released.withLock { $0 += 1 }
                return .bytes(":\(reply)\r\n")
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            cache.level.subscription.stop()
            try await waitUntil("its thread has ended") { !cache.statistics.isConnected }
            #expect(cache.lease("key", for: 600) == .unavailable)
            cache.flush()
            #expect(released.withLock { $0 } == 2 - reply)
        }

        @Test("a lease whose release a server has refused, because it takes no writes, is released later")
        func refusedRelease() async throws {
            let released = Locked(0)
            let server = try Self.server(counting: released) { count in
                .bytes(count == 1 ? "-READONLY You can't write against a read only replica.\r\n" : ":1\r\n")
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            cache.release(Lease(key: "key", token: 1))
            try await waitUntil("released") { cache.level.unreleased.withLock { $0.isEmpty } }
            #expect(released.withLock { $0 } == 2)
        }

        @Test("several waits are looked up in one call")
        func checks() async throws {
            let asked = Locked(0)
            let server = try FakeServer { command in
                guard command.first == "PTTL" else { return nil }
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                return count < 3 ? .silence : .bytes(":1\r\n:0\r\n:600000\r\n")
            }
            let clock = ManualClock()
            let cache = try await ValkeyURLCache.test(server.url, time: clock).connected()
            let (gate, ends) = (DispatchSemaphore(value: 0), Collector<LeaseEnd>())
            cache.level.queue.async { gate.wait() }
            for number in 0..<3 {
                _ = cache.waitForRelease(of: "key \(number)", atMost: 60) { ends.append($0) }
            }
            gate.signal()
            cache.flush()
            #expect(asked.withLock { $0 } == 3 && cache.statistics.failures == 0)
            try await waitUntil("ended") { ends.elements.count == 1 }
            #expect(ends.elements == [.vacant])  // the second is free, the first will be soon, the limit ends the third
        }

        /// What a load asks of the server, as the names of commands and their numbers of words.
        private func calls(takesLeases: Bool) async throws -> [String] {
            let seen = Locked<[String]>([])
            let server = try FakeServer { command in
                seen.withLock { $0.append("\(command[0]) \(command.count)") }
                return command.first == "EVALSHA" && command.count == Self.grant ? .bytes(Self.granted) : nil
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            let origin = StubServer { _ in Reply("hello", fields: ["Cache-Control": "max-age=60"]) }
            var configuration = Synchronizer.Configuration.test()
            configuration.urlCache = cache
            if !takesLeases { configuration.leases = nil }
            seen.withLock { $0 = [] }
            let resource = DataResource(url: try #require(URL(string: Sample.url)))
            _ = try await origin.synchronizer(configuration).load(resource)
            cache.flush()
            let others = ["SCRIPT", "PING", "SUBSCRIBE", "EXISTS"]  // what connections need
            return seen.withLock { seen in seen.filter { text in !others.contains { text.hasPrefix($0) } } }
        }

        @Test("a free lease costs a load one call more")
        func free() async throws {
            var calls = try await calls(takesLeases: true)
            calls.removeAll { $0 == "EVALSHA \(Self.release)" }  // no call of the load
            let lease = try #require(calls.firstIndex(of: "EVALSHA \(Self.grant)"))
            calls.remove(at: lease)
            let without = try await self.calls(takesLeases: false)
            #expect(calls == without)
        }

        @Test("an update moves no body")
        func update() async throws {
            let seen = Locked<[String]>([])
            let server = try FakeServer { command in
                seen.withLock { $0.append(command[0]) }
                return nil
            }
            let cache = try await ValkeyURLCache.test(server.url).connected()
            try cache.put(Sample.body(5))
            seen.withLock { $0 = [] }
            cache.update(StoredEntry(response: Sample.response(), id: 1, bodySize: 5), to: Sample.response())
            #expect(seen.withLock { $0.filter { !["PING", "EXISTS"].contains($0) } } == ["GET", "HGETALL"])
        }

        @Test("a channel is needed as long as one of its waits is, in whatever order waits begin and end")
        func channels() {
            let (waits, first, second) = (SharedLeaseWaits(), SharedLeaseWait { _ in }, SharedLeaseWait { _ in })
            #expect(waits.channels.isEmpty && waits.add(first, to: "c") {} && waits.channels == ["c"])
            #expect(waits.remove(first, from: "c") && waits.add(second, to: "c") {})
            #expect(waits.channels == ["c"])  // whichever of the two wakes the thread later
            #expect(!waits.remove(first, from: "c") && waits.channels == ["c"])
            #expect(waits.remove(second, from: "c") && waits.channels.isEmpty)
        }
    }
#endif
