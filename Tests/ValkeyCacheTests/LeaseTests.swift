#if Valkey
    import Foundation
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    @Suite("Leases of a shared cache", .bounded, .enabled(if: RedisServer.isInstalled))
    struct LeaseTests {
        private let server: RedisServer
        private let one: ValkeyURLCache
        private let other: ValkeyURLCache

        init() async throws {
            server = try RedisServer()
            one = try await ValkeyURLCache.test(server.url).connected()
            other = try await ValkeyURLCache.test(server.url).connected()
        }

        private func grant(_ cache: ValkeyURLCache, _ duration: TimeInterval = 600) throws -> Lease {
            guard case .granted(let lease) = cache.lease("key", for: duration) else {
                throw LinkFailure.malformed("the lease is not granted")
            }
            return lease
        }

        private func isHeld(_ cache: ValkeyURLCache) -> Bool {
            if case .held = cache.lease("key", for: 600) { true } else { false }
        }

        @Test("one holds a lease until it releases it; tokens grow")
        func exclusion() throws {
            let first = try grant(one)
            #expect(isHeld(other) && isHeld(one))
            one.release(first)
            let second = try grant(other)
            #expect(second.token > first.token)
            one.release(first)  // no longer its own
            #expect(isHeld(one))
        }

        @Test("a lease expires with its holder, and a late holder stores and updates nothing")
        func expiry() async throws {
            let late = try grant(one, 0.001)
            var lease: Lease?
            try await waitUntil("expired") {
                lease = try? grant(other)
                return lease != nil
            }
            let response = Sample.response()
            #expect(other.store(response, try Sample.cached(Sample.body(1)), under: try #require(lease)) != nil)
            #expect(one.store(response, try Sample.cached(Sample.body(2)), under: late) == nil)
            #expect(one.bodies() == [Sample.body(1)] && other.bodies() == [Sample.body(1)])
            let entry = try #require(one.entries(for: Sample.url).first)
            one.update(entry, to: Sample.response([("ETag", "\"late\"")]), under: late)
            #expect(one.entries(for: Sample.url).first?.response.fields["ETag"] == nil)
            other.update(entry, to: Sample.response([("ETag", "\"new\"")]), under: try #require(lease))
            #expect(other.entries(for: Sample.url).first?.response.fields["ETag"] == "\"new\"")
        }

        @Test("a release wakes those that wait, once")
        func waiting() async throws {
            let lease = try grant(one)
            let calls = Locked(0)
            let cancels = (0..<3).map { _ in
                other.waitForRelease(of: "key", atMost: 600) { _ in calls.withLock { $0 += 1 } }
            }
            cancels[2]()
            other.flush()  // the waits have seen that the lease is held
            #expect(calls.withLock { $0 } == 0)
            one.release(lease)
            try await waitUntil("woken") { calls.withLock { $0 } == 2 }
            #expect(!isHeld(other))
        }

        @Test("an expiry wakes those that wait, and so does a lease that is free already")
        func waitingForExpiry() async throws {
            _ = try grant(one, 0.05)
            let calls = Locked(0)
            _ = other.waitForRelease(of: "key", atMost: 600) { _ in calls.withLock { $0 += 1 } }
            try await waitUntil("woken") { calls.withLock { $0 } == 1 }
            _ = other.waitForRelease(of: "other key", atMost: 600) { _ in calls.withLock { $0 += 1 } }
            try await waitUntil("woken") { calls.withLock { $0 } == 2 }
        }

        @Test("the limit ends a wait, also without a server")
        func limit() async throws {
            _ = try grant(one)
            let calls = Locked(0)
            _ = other.waitForRelease(of: "key", atMost: 0.01) { _ in calls.withLock { $0 += 1 } }
            try await waitUntil("woken") { calls.withLock { $0 } == 1 }
            let alone = try ValkeyURLCache.test("unix:///nonexistent/socket")
            guard case .unavailable = alone.lease("key", for: 1) else { throw LinkFailure.malformed("not unavailable") }
            _ = alone.waitForRelease(of: "key", atMost: 0.01) { _ in calls.withLock { $0 += 1 } }
            try await waitUntil("woken") { calls.withLock { $0 } == 2 }
        }
    }
#endif
