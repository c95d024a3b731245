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

        @Test("a machine holds a lease until it releases it")
        func exclusion() throws {
            let first = try grant(one)
            #expect(isHeld(other) && one.lease("key", for: 600) == .unavailable)
            one.release(first)
            one.flush()
            _ = try grant(other)
            one.release(first)  // no longer its own
            one.flush()
            #expect(isHeld(one))
        }

        @Test("a lease expires with its holder")
        func expiry() async throws {
            let late = try grant(one, 0.001)
            try await waitUntil("expired") { (try? grant(other)) != nil }
            one.release(late)
            one.flush()
            #expect(isHeld(one))
        }

        /// A time after that of all responses so far.
        private func laterTime() -> Date {
            let start = Date()
            while Date().timeIntervalSince(start) < 2e-6 {}
            return Date()
        }

        @Test("a response that was requested before the stored one is neither stored nor updates it")
        func late() async throws {
            #expect(one.bodies().isEmpty && other.bodies().isEmpty)
            let (early, later) = (laterTime(), laterTime())
            #expect(try other.put(Sample.body(1), at: later) != nil)
            #expect(try one.put(Sample.body(2), at: early) == nil)
            #expect(one.bodies() == [Sample.body(1)] && other.bodies() == [Sample.body(1)])
            let entry = try #require(one.entries(for: Sample.url).first)
            #expect(!one.update(entry, to: Sample.response([("ETag", "\"late\"")], at: early)))
            #expect(one.entries(for: Sample.url).first?.response.fields["ETag"] == nil)
            #expect(other.update(entry, to: Sample.response([("ETag", "\"new\"")], at: laterTime())))
            #expect(other.entries(for: Sample.url).first?.response.fields["ETag"] == "\"new\"")
            // As if another machine's clock were an hour ahead: its time says nothing.
            #expect(try other.put(Sample.body(3), at: laterTime() + 3600) != nil)
            try await one.hearsAll(of: other)
            #expect(try one.put(Sample.body(4), at: laterTime()) != nil && one.bodies() == [Sample.body(4)])
        }

        @Test("a late holder replaces no response of a later lease, although its clock is ahead")
        func lateHolder() async throws {
            let clock = ManualClock(Date() + 3600)
            let late = try await ValkeyURLCache.test(server.url, time: clock).connected()
            let lease = { (cache: ValkeyURLCache) -> Lease in
                guard case .granted(let lease) = cache.lease(Sample.url, for: 600) else {
                    throw LinkFailure.malformed("the lease is not granted")
                }
                return lease
            }
            let first = try lease(late)
            try server.run("DEL", one.level.keys.lease(Sample.url))  // it has expired
            let second = try lease(one)
            #expect(one.bodies().isEmpty && late.bodies().isEmpty)
            #expect(try one.put(Sample.body(1), at: Date()) != nil)
            let entry = try #require(late.entries(for: Sample.url).first)
            #expect(try late.put(Sample.body(2), at: clock.now) == nil)
            #expect(!late.update(entry, to: Sample.response([("ETag", "\"late\"")], at: clock.now)))
            #expect(other.bodies() == [Sample.body(1)] && late.bodies() == [Sample.body(1)])
            late.release(first)
            one.release(second)
            one.flush()
            late.flush()
            _ = try lease(late)
            #expect(try late.put(Sample.body(3), at: clock.now) != nil)
            try await waitUntil("announced") { other.bodies() == [Sample.body(3)] }
        }

        @Test("a lease whose grant comes too late is released")
        func lateGrant() async throws {
            let hasty = try await ValkeyURLCache.test(server.url, wait: 0.5).connected()
            server.pause()
            let answer = hasty.lease("key", for: 600)
            server.resume()
            #expect(answer == .unavailable)
            try await waitUntil("released") { (try? grant(other)) != nil }
        }

        @Test("a release that the server did not get is repeated")
        func lateRelease() async throws {
            let hasty = try await ValkeyURLCache.test(server.url, wait: 0.5).connected()
            var lease: Lease?
            try await waitUntil("granted") {
                lease = try? grant(hasty)
                return lease != nil
            }
            server.pause()
            hasty.release(try #require(lease))
            server.resume()
            try await waitUntil("released") { (try? grant(other)) != nil }
        }

        @Test("a grant that is asked for twice, because the connection was closed, is one")
        func repeatedGrant() throws {
            let level = one.level
            let command = Command(
                .lease, keys: [level.keys.lease("key"), level.keys.recent("key")],
                arguments: [.text(level.name + "0000000000000001"), .text("600000"), .text("600000")])
            let answers = try (0..<2).map { _ in try level.server.run([command])[0].array?.first }
            #expect(answers == [.number(1), .number(2)])
            #expect(one.lease("key", for: 600) == .unavailable && isHeld(other))
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

        @Test("waits end as the lease did: released, or free for the next one", arguments: [true, false])
        func ends(isReleased: Bool) async throws {
            let ends = Collector<LeaseEnd>()
            let first = try grant(one)
            for cache in [one, other] { _ = cache.waitForRelease(of: "key", atMost: 600) { ends.append($0) } }
            let channel = one.level.keys.releases("key")
            try await waitUntil("both listen") {
                (try? server.run("PUBSUB", "NUMSUB", channel))?.array?.last == .number(2)
            }
            // Each wait looks once more when it listens. What is announced after that comes on the same connection.
            try await one.hearsAll(of: other)
            try await other.hearsAll(of: one)
            for cache in [one, other] { cache.flush() }
            if isReleased { one.release(first) } else { one.abandon(first) }
            try await waitUntil("woken") { ends.elements.count == 2 }
            #expect(ends.elements == [LeaseEnd](repeating: isReleased ? .released : .vacant, count: 2))
        }

        @Test("says whether a response may have been stored since the caller looked")
        func news() throws {
            let first = try grant(one)
            #expect(!first.followsAnother)
            one.release(first)
            one.flush()
            let second = try grant(other)
            #expect(second.followsAnother)
            other.release(second)
            other.flush()
            // As if the last lease were long over.
            try server.run("DEL", one.level.keys.recent("key"))
            #expect(try !grant(one, 5).followsAnother)
        }

        @Test("a change that was not announced yet: the holder of the next lease asks the server")
        func unannounced() throws {
            let url = "https://example.com/a"
            guard case .granted(let first) = one.lease(url, for: 600) else { throw LinkFailure.malformed("no lease") }
            try one.put(Sample.body(1), url: url)
            #expect(other.bodies(url) == [Sample.body(1)])
            one.release(first)
            one.flush()
            // Another process changes it, and its announcement is late: here it never comes.
            try server.run("DEL", one.level.keys.entries(of: URLDigest(url), in: try one.level.generation()))
            #expect(other.bodies(url) == [Sample.body(1)])
            #expect(other.lease(url, for: 600) != .held && other.bodies(url).isEmpty)
        }

        @Test("while the server cannot be asked, one process of each machine gets the lease, and stores")
        func fallback() async throws {
            let directory = DisposableDirectory("fallback")
            let caches = try directory.paths(2).map {
                try ValkeyURLCache.test(
                    "unix:///nonexistent/socket",
                    local: SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 64 << 20, directory: $0))
            }
            let lease = try grant(caches[0])
            #expect(lease.isLocal && isHeld(caches[1]))
            let ends = Collector<LeaseEnd>()
            _ = caches[1].waitForRelease(of: "key", atMost: 600) { ends.append($0) }
            let early = laterTime()
            #expect(try caches[0].put(Sample.body(1), at: laterTime()) != nil)
            caches[0].release(lease)
            try await waitUntil("woken") { ends.elements == [.released] }
            #expect(caches[1].bodies() == [Sample.body(1)])
            var next: Lease?
            try await waitUntil("free") {  // the holder is about to free a lock
                next = try? grant(caches[1])
                return next != nil
            }
            #expect(try caches[1].put(Sample.body(2), at: early) == nil)
            caches[1].abandon(try #require(next))
            #expect(caches[0].bodies() == [Sample.body(1)])
        }

        @Test("a wait ends when the server is gone: the load asks again, and gets a lease of its machine")
        func serverIsGone() async throws {
            _ = try grant(one)
            let ends = Collector<LeaseEnd>()
            _ = other.waitForRelease(of: "key", atMost: 600) { ends.append($0) }
            other.flush()
            server.stop()
            try await waitUntil("woken") { ends.elements == [.vacant] }
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

        @Test("a key without an expiry, which no process can have set, holds no lease", arguments: [true, false])
        func withoutExpiry(isOwn: Bool) throws {
            try server.run("SET", one.level.keys.lease("key"), (isOwn ? one : other).level.name + "0000000000000001")
            _ = try grant(one)
            #expect(isHeld(other))
        }

        @Test("the end of a wait is not handled on the queue of the cache, which flush() waits for")
        func handlers() async throws {
            let (key, ends) = (DispatchSpecificKey<Bool>(), Collector<Bool>())
            other.level.queue.setSpecific(key: key, value: true)
            _ = other.waitForRelease(of: "free", atMost: 600) { _ in
                ends.append(DispatchQueue.getSpecific(key: key) ?? false)
            }
            try await waitUntil("ended") { ends.elements.count == 1 }
            #expect(ends.elements == [false])
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
