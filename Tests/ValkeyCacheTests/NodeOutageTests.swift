#if Valkey
    import Foundation
    import SQLiteCache
    import SynchronizerTesting
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("A cluster of which one node is down", .bounded)
    struct NodeOutageTests {
        /// A cluster whose node in the URL has the even slots. The node of the odd slots is down.
        private final class Cluster: Sendable {
            private let down: FakeServer
            let isDown = Locked(true)
            private let main: FakeServer
            var url: String { "redis://127.0.0.1:\(main.port)" }

            /// - Parameter answer: what a node that works answers to commands with its own keys.
            init(_ answer: @escaping @Sendable ([String]) -> FakeServer.Answer? = { _ in nil }) throws {
                let down = try FakeServer { [isDown] command in
                    isDown.withLock { $0 } ? .bytes("-CLUSTERDOWN The cluster is down\r\n") : answer(command)
                }
                self.down = down
                main = try FakeServer { command in
                    guard let slot = Self.slot(of: command), slot % 2 == 1 else { return answer(command) }
                    return .bytes("-MOVED \(slot) 127.0.0.1:\(down.port)\r\n")
                }
            }

            private static func slot(of command: [String]) -> Int? {
                switch command[0] {
                case "EVALSHA": ClusterSlot.of(command[3])
                // The node has the generation, too.
                case "GET" where !command[1].hasSuffix(":generation"): ClusterSlot.of(command[1])
                case "HGETALL", "GETRANGE", "PTTL": ClusterSlot.of(command[1])
                default: nil
                }
            }

            /// The URLs of a node.
            static func urls(_ count: Int, isDown: Bool) -> [String] {
                let all = (0...).lazy.map { "https://example.com/\($0)" }
                let some = all.filter { (ClusterSlot.of("{\(URLDigest($0).text)}") % 2 == 1) == isDown }
                return Array(some.prefix(count))
            }

            /// A cache that knows the nodes, and whose thread has ended, so that the test does its work.
            func cache(time: any TimeSource = SystemTime()) async throws -> ValkeyURLCache {
                let cache = try await ValkeyURLCache.test(url, time: time).connected()
                cache.level.subscription.stop()
                try await waitUntil("its thread has ended") { !cache.statistics.isConnected }
                _ = cache.bodies(Self.urls(1, isDown: true)[0])
                #expect(cache.level.server.isCluster)
                return cache
            }
        }

        private static func isScript(_ command: [String], words: Int) -> Bool {
            command[0] == "EVALSHA" && command.count == words
        }

        @Test("removals at the other nodes do not wait for its own, which are tried again in turn")
        func removals() async throws {
            let cluster = try Cluster { Self.isScript($0, words: 8) ? .bytes(":1\r\n") : nil }
            let cache = try await cluster.cache()
            let level = cache.level
            let (lost, good) = (Cluster.urls(40, isDown: true), Cluster.urls(40, isDown: false))
            for url in lost + good {
                level.coherence.withLock { $0.addPending(url, token: "0123456789abcdef") }
            }
            let left = { (urls: [String]) in
                level.coherence.withLock { coherence in urls.filter { coherence.pending.contains($0) }.count }
            }
            for _ in 0..<5 { _ = level.deliverRemovals(isRetrying: false) }
            #expect(left(good) == 0 && left(lost) == 40)
            #expect(level.deliverRemovals(isRetrying: true) == .failed)
            // However many are pending, the caller tells the server of its own removal.
            cache.removeEntries(for: good[0])
            #expect(left(good) == 0 && left(lost) == 40)
        }

        @Test("the releases of leases at the other nodes do not wait for its own")
        func releases() async throws {
            let released = Locked(0)
            let cluster = try Cluster { command in
                guard Self.isScript(command, words: 7) else { return nil }
                released.withLock { $0 += 1 }
                return .bytes(":1\r\n")
            }
            let cache = try await cluster.cache()
            let release = { cache.level.releaseSome(isRetrying: $0) }
            let keys = Cluster.urls(8, isDown: true) + Cluster.urls(8, isDown: false)
            for (number, key) in keys.enumerated() { cache.release(Lease(key: key, token: UInt64(number))) }
            #expect(release(false) == .isLeft && released.withLock { $0 } == 8)
            #expect(release(false) == .failed && release(true) == .failed && released.withLock { $0 } == 8)
            cluster.isDown.withLock { $0 = false }
            try await waitUntil("released") {
                cache.flush()
                return cache.level.unreleased.withLock { $0.isEmpty }
            }
            #expect(released.withLock { $0 } == 16)
        }

        @Test("a lease that its node has granted is not released any more after it has expired")
        func expiry() async throws {
            let cluster = try Cluster { command in
                Self.isScript(command, words: 8) ? .bytes("*2\r\n:1\r\n$16\r\n0000000000000001\r\n") : nil
            }
            let clock = ManualClock()
            let cache = try await cluster.cache(time: clock)
            cluster.isDown.withLock { $0 = false }
            let key = Cluster.urls(1, isDown: true)[0]
            guard case .granted(let lease) = cache.lease(key, for: 600), !lease.isLocal else {
                throw LinkFailure.malformed("no lease")
            }
            cluster.isDown.withLock { $0 = true }
            cache.release(lease)
            clock.advance(by: 599)
            #expect(cache.level.releaseSome(isRetrying: true) == .failed)
            clock.advance(by: 1)
            #expect(cache.level.releaseSome(isRetrying: true) == .done)
        }

        @Test("a lease that it has certainly not granted is not released")
        func notGranted() async throws {
            let cache = try await Cluster().cache()
            _ = cache.lease(Cluster.urls(1, isDown: true)[0], for: 600)
            #expect(cache.level.unreleased.withLock { $0.isEmpty })
        }
    }
#endif
