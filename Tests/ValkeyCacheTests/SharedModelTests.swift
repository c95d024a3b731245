#if Valkey
    import Foundation
    import SQLiteCache
    import TestSupport
    import TestTraits
    import Testing

    @testable import ValkeyCache

    extension ValkeyURLCache: ModelledCache {}

    @Suite("The shared cache against a model", .bounded, .enabled(if: RedisServer.isInstalled))
    struct SharedModelTests {
        /// The local level's memory and disk: everything, some, nothing; with and without a disk.
        private static let kinds: [(memory: Int, disk: Int)] = [
            (64 << 20, 256 << 20), (100_000, 256 << 20), (0, 256 << 20), (64 << 20, 0),
        ]
        /// 1 is enough for each change; in a soak, all 100,000 steps are done.
        private static let share = Soak.count(1, inSoak: 8)

        @Test("eight threads do everything to URLs of their own, as to dictionaries of their own", arguments: kinds)
        func threads(_ kind: (memory: Int, disk: Int)) async throws {
            let server = try RedisServer()
            let directory = DisposableDirectory("shared-model")
            let clock = ManualClock()
            let local = SQLiteURLCache(
                memoryCapacity: kind.memory, diskCapacity: kind.disk, directory: directory.url, time: clock)
            let cache = try await ValkeyURLCache.test(server.url, local: local, time: WholeMilliseconds(clock))
                .connected()
            let runs = (0..<8).map { seed in
                Locked(
                    ModelRun(
                        seed: 200 + UInt64(seed), memory: kind.memory, disk: kind.disk, in: directory.url,
                        sharing: cache,
                        clock: clock))
            }
            // As loads do: after a lookup the cache knows what may be stored.
            for run in runs { try run.withLock { try $0.checkAll() } }
            for _ in 0..<4 * Self.share {
                let errors = Locked<[String]>([])
                DispatchQueue.concurrentPerform(iterations: runs.count) { index in
                    runs[index].withLock { run in
                        do { try run.run(steps: 100) } catch { errors.withLock { $0.append("\(error)") } }
                    }
                }
                try #require(errors.withLock { $0 } == [])
                cache.removeAllCachedResponses()
                for run in runs {
                    try run.withLock { run in
                        run.othersRemovedAll()
                        try run.checkAll()
                    }
                }
            }
            let statistics = cache.statistics
            #expect(statistics.corruptEntriesDropped == 0 && statistics.failures == 0)
            #expect(statistics.sharedHits > 0 && statistics.localHits > 0)
        }

        @Test(
            "three processes on three machines do everything to URLs of their own, as to dictionaries of their own",
            .enabled(if: ChildProcess.isAvailable), arguments: [0, 64 << 20])
        func processes(_ memory: Int) throws {
            let server = try RedisServer()
            let children = try (1...3).map {
                try ChildProcess("shared-model", directory: server.directory, [$0, 500 * Self.share, memory])
            }
            withExtendedLifetime(server) { children.forEach { $0.expectSuccess() } }
        }
    }
#endif
