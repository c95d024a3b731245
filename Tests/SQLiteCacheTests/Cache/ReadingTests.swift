import Foundation
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Reading from the disk", .bounded)
struct ReadingTests {
    let directory = TemporaryDirectory()

    private func body(_ number: Int, _ size: Int) -> Data {
        StorageChurn.body(seed: 9, step: number, key: number, size: size)
    }

    private func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private func store(_ cache: ResponseCache, _ number: Int, size: Int) throws {
        let url = "https://example.com/\(number)"
        let cached = try Sample.cached(url, body(number, size))
        let record = try #require(StoredRecord(cached, for: Sample.request(url), now: cache.time.now))
        cache.store(record, cached: cached, keepsObject: true)
    }

    private func found(_ cache: ResponseCache, _ number: Int) -> Data? {
        cache.rows(of: "https://example.com/\(number)") { _ in true }.first?.body
    }

    @Test("entries in memory are not read again after another process has changed the database")
    func knownBodies() throws {
        let clock = ManualClock()
        let cache = directory.cache(memory: 8 << 20, time: clock)
        try store(cache, 1, size: 100_000)
        cache.flush()
        #expect(found(cache, 1) == body(1, 100_000))
        try store(cache, 2, size: 100)
        cache.flush()
        try FileManager.default.removeItem(atPath: directory.bodies)
        clock.advance(by: 2)
        #expect(found(cache, 1) == body(1, 100_000))
        #expect(cache.state.withLock { $0.corrupt.count } == 0)
    }

    // MARK: - What could not be read

    @Test("entries read before another process's change was noticed do not count as stored after it")
    func readBeforeDoubt() throws {
        let clock = ManualClock()
        let (cache, other) = (directory.cache(memory: 8 << 20, time: clock), directory.cache())
        try store(other, 1, size: 100)
        other.flush()
        let old = cache.rows(of: url(1)) { _ in
            cache.state.withLock { $0.memory.invalidateAll() }  // as another thread that has noticed
            return true
        }
        try store(other, 1, size: 200)
        other.flush()
        #expect(old.map(\.bodySize) == [100])
        #expect(cache.rows(of: url(1)).map(\.bodySize) == [200])
    }

    @Test("a response that the disk refused during a lookup stays in memory")
    func givenUpDuringLookUp() throws {
        let cache = directory.cache(memory: 8 << 20, time: ManualClock())
        try store(cache, 1, size: 100)
        cache.flush()
        let other = try directory.database()
        try other.execute(Schema.beginWriting)  // the writer waits
        let stored = Sample.stored(url(1), selecting: [("Accept", "b")])
        cache.store(StoredRecord(stored), cached: try Sample.cached(url(1), Data([2])), keepsObject: false)
        let during = cache.rows(of: url(1)) { _ in
            cache.abandonStores()
            return true
        }
        #expect(during.map(\.bodySize) == [1, 100])
        cache.state.withLock { $0.memory.invalidateAll() }
        #expect(cache.rows(of: url(1)).map(\.bodySize) == [1, 100])
        try other.execute(Schema.rollback)
    }

    @Test("where the database can't be read for a moment, memory does not take it for empty")
    func unreadableForAMoment() throws {
        let cache = directory.cache(memory: 8 << 20, time: ManualClock())
        try store(cache, 1, size: 100)
        cache.close()
        cache.state.withLock { state in  // forgets it
            state.memory.capacity = 0
            state.memory.capacity = 8 << 20
        }
        let stored = Sample.stored(url(1), selecting: [("Accept", "b")])
        let cached = try Sample.cached(url(1), Data([2]), policy: .allowedInMemoryOnly)
        cache.store(StoredRecord(stored), cached: cached, keepsObject: false)
        cache.close()
        let path = directory.url.path
        #expect(rename(path, path + "-away") == 0)
        #expect(cache.rows(of: url(1)).map(\.bodySize) == [1])
        #expect(rename(path + "-away", path) == 0)
        #expect(cache.rows(of: url(1)).map(\.bodySize) == [1, 100])
    }

    @Test("a lookup whose connection fails opens another one")
    func transientFailures() throws {
        let cache = directory.cache()
        try store(cache, 1, size: 100)
        cache.close()
        #expect(found(cache, 1) != nil)
        var failures = 0
        let count = cache.readDisk { connection in
            guard failures == 1 else {
                failures += 1
                throw SQLiteFailure(code: 10, message: "disk I/O error")
            }
            return try connection.entryCount()
        }
        #expect(count == 1)
    }

    // MARK: - Files that change under open connections

    /// Fills a cache and reads all of it, so that its connections are in use.
    private func busyCache(_ count: Int = 200) throws -> ResponseCache {
        let cache = directory.cache()
        for number in 0..<count { try store(cache, number, size: 5000) }
        cache.flush()
        for round in 0..<5 { for number in 0..<count { #expect(found(cache, number) != nil, "round \(round)") } }
        return cache
    }

    @Test("a directory that was renamed is left, and a new one made")
    func renamedDirectory() throws {
        let cache = try busyCache(50)
        let elsewhere = TemporaryDirectory()
        try FileManager.default.moveItem(at: directory.url, to: elsewhere.url)
        try store(cache, 1000, size: 5000)
        cache.flush()
        #expect(found(cache, 1000) == body(1000, 5000))
        #expect(found(cache, 1) == nil)
        let moved = elsewhere.cache()
        #expect(found(moved, 1) == body(1, 5000))
        moved.close()
    }

}
