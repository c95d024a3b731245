#if Valkey
    import Foundation
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("A lease that the server has lost", .bounded, .enabled(if: RedisServer.isInstalled))
    struct LostLeaseTests {
        private let server: RedisServer
        private let one: ValkeyURLCache
        private let other: ValkeyURLCache
        private let ends = Collector<LeaseEnd>()

        init() async throws {
            server = try RedisServer()
            one = try await ValkeyURLCache.test(server.url).connected()
            other = try await ValkeyURLCache.test(server.url).connected()
        }

        private func grant(_ cache: ValkeyURLCache) throws -> Lease {
            guard case .granted(let lease) = cache.lease("key", for: 600) else {
                throw LinkFailure.malformed("the lease is not granted")
            }
            return lease
        }

        /// As if the server had evicted the lease.
        private func loseLease() throws { try server.run("DEL", one.level.keys.lease("key")) }

        /// Begins a wait, and returns once the machine has seen that the lease is held, and listens.
        private func beginWait(_ cache: ValkeyURLCache) async throws {
            _ = cache.waitForRelease(of: "key", atMost: 600) { [ends] in ends.append($0) }
            let channel = cache.level.keys.releases("key")
            try await waitUntil("it listens") {
                (try? server.run("PUBSUB", "NUMSUB", channel))?.array?.last == .number(1)
            }
            try await cache.hearsAll(of: cache === one ? other : one)
            cache.flush()
        }

        @Test("is released all the same: the waits end as the lease did", arguments: [true, false])
        func release(isReleased: Bool) async throws {
            let lease = try grant(one)
            try await beginWait(other)
            try loseLease()
            if isReleased { one.release(lease) } else { one.abandon(lease) }
            try await waitUntil("woken") { ends.elements.count == 1 }
            #expect(ends.elements == [isReleased ? .released : .vacant])
        }

        @Test("is not released if another machine has it by then")
        func otherHolder() async throws {
            let first = try grant(one)
            try loseLease()
            let second = try grant(other)
            try await beginWait(one)
            one.abandon(first)
            one.flush()
            other.release(second)
            try await waitUntil("woken") { ends.elements.count == 1 }
            #expect(ends.elements == [.released])
        }
    }
#endif
