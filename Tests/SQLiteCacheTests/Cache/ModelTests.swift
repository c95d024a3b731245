import Foundation
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("The cache against a model", .bounded)
struct ModelTests {
    /// Memory that holds everything, some, nothing; with and without a disk.
    private static let kinds: [(memory: Int, disk: Int)] = [
        (64 << 20, 256 << 20), (100_000, 256 << 20), (0, 256 << 20), (64 << 20, 0),
    ]

    /// For each of the twenty seeds: 4,000 steps in all, and 100,000 in a soak.
    private static let steps = Soak.count(200, inSoak: 5000)

    @Test("random steps have the same effect on the cache as on a dictionary", arguments: UInt64(0)..<20)
    func randomSteps(_ seed: UInt64) throws {
        let kind = Self.kinds[Int(seed) % Self.kinds.count]
        let directory = TemporaryDirectory()
        var run = ModelRun(seed: seed, memory: kind.memory, disk: kind.disk, in: directory.url)
        try run.run(steps: Self.steps)
    }

    @Test(
        "eight threads do everything to URLs of their own in one cache, as to dictionaries of their own",
        arguments: kinds)
    func threads(_ kind: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: kind.memory, disk: kind.disk)
        let runs = (0..<8).map { seed in
            Locked(
                ModelRun(
                    seed: 100 + UInt64(seed), memory: kind.memory, disk: kind.disk, in: directory.url, sharing: cache))
        }
        for _ in 0..<Soak.count(1, inSoak: 4) {
            let errors = Locked<[String]>([])
            DispatchQueue.concurrentPerform(iterations: runs.count) { index in
                runs[index].withLock { run in
                    do { try run.run(steps: Soak.count(150, inSoak: 300)) } catch {
                        errors.withLock { $0.append("\(error)") }
                    }
                }
            }
            try #require(errors.withLock { $0 }.isEmpty)
            cache.removeAllCachedResponses()
            for run in runs {
                try run.withLock { run in
                    run.othersRemovedAll()
                    try run.checkAll()
                }
            }
        }
        #expect(cache.statistics.corruptEntriesDropped == 0)
    }

    @Test(
        "three processes do everything to URLs of their own in one directory, as to dictionaries of their own",
        .enabled(if: ChildProcess.isAvailable), arguments: [0, 64 << 20])
    func processes(_ memory: Int) throws {
        let directory = TemporaryDirectory()
        let children = try (1...3).map { try ChildProcess("model", directory, [$0, 1500, memory]) }
        for child in children { child.expectSuccess() }
        #expect(try ChildProcess(program: "synchronizer-cache", [directory.url.path, "--verify"]).rest().count == 1)
    }
}
