import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Changes that wait for the disk", .bounded)
struct PendingTests {
    private let directory = TemporaryDirectory()
    private let limit = 32 << 20

    private func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private func store(_ cache: ResponseCache, _ number: Int, size: Int) throws {
        let cached = try Sample.cached(url(number), Sample.body(size, seed: UInt64(number)))
        cache.store(StoredRecord(Sample.stored(url(number))), cached: cached, keepsObject: false)
    }

    private func body(_ cache: ResponseCache, _ number: Int) -> Data? {
        cache.rows(of: url(number)) { _ in true }.first?.body
    }

    private func pending(_ cache: ResponseCache) -> (cost: Int, bodies: Int) {
        cache.state.withLock { ($0.log.cost, $0.log.bodyBytes) }
    }

    /// Stores megabytes until a further one would exceed the limit; returns how many.
    private func fill(_ cache: ResponseCache) throws -> Int {
        var count = 0
        while pending(cache).cost + 1_100_000 <= limit {
            try store(cache, count, size: 1 << 20)
            count += 1
            try #require(pending(cache).bodies == count << 20)
        }
        try #require(count >= 30)
        return count
    }

    @Test("a store waits for the disk if more than 32 MB are pending, and not before")
    func waits() throws {
        #expect(ResponseCache.maximumBacklog == limit)
        let cache = directory.cache(disk: 256 << 20)
        cache.writer.queue.async {  // the disk is slow
            while pending(cache).cost <= ResponseCache.maximumBacklog { sched_yield() }
        }
        let count = try fill(cache)
        try store(cache, count, size: 2 << 20)
        #expect(pending(cache) == (0, 0))
        #expect(body(directory.cache(disk: 256 << 20), count) == Sample.body(2 << 20, seed: UInt64(count)))
    }

    @Test("while another process writes, stores beyond 32 MB are given up, and their responses stay in memory only")
    func givenUp() throws {
        let cache = directory.cache(memory: 64 << 20, disk: 256 << 20, time: ManualClock())
        cache.diskIsBusy()
        let count = try fill(cache)
        cache.diskIsBusy()
        #expect(pending(cache).bodies == count << 20)
        try store(cache, count, size: 2 << 20)
        #expect(pending(cache).bodies == 0)
        cache.flush()
        let other = directory.cache(disk: 256 << 20)
        for number in 0...count {
            #expect(body(cache, number)?.count == (number == count ? 2 << 20 : 1 << 20))
            #expect(other.rows(of: url(number)).isEmpty)
        }
    }

    @Test("stores for which the writer waited in vain are given up, too")
    func waitedInVain() throws {
        let cache = directory.cache(disk: 256 << 20)
        let row = StoredRow(
            id: 1, url: url(1), urlKey: Checksum64.of(url(1)), revision: 1, stored: 1, record: EncodedRecord(),
            variant: 1, bodySize: limit, body: Data(count: limit))
        cache.state.withLock { $0.log.append(.store(row)) }
        cache.diskIsBusy()
        #expect(pending(cache).bodies == 0)
    }

    /// A response that replaces all others of its URL.
    private func row(_ url: String, body: Data) -> StoredRow {
        let id = MonotonicID.next()
        return StoredRow(
            id: id, url: url, urlKey: Checksum64.of(url), revision: id, stored: id,
            record: EncodedRecord(StoredRecord(Sample.stored(url))), variant: 1, bodySize: body.count, body: body)
    }

    @Test("while another process writes, a response may be replaced any number of times")
    func replacedOften() throws {
        let clock = ManualClock()
        let cache = directory.cache(time: clock)
        try store(cache, 0, size: 1)
        cache.flush()
        let other = try WriteConnection(
            directory: directory.files, generation: directory.generation, busyTimeout: .none)
        try other.database.execute(Schema.beginWriting)
        var longest = 0
        for number in 0..<20_000 {
            clock.advance(by: 0.01)
            cache.change(.store(row(url(number % 2), body: Data([UInt8(number % 256)]))))
            longest = max(longest, cache.state.withLock { $0.log.count })
        }
        #expect(longest < 500)
        try other.database.execute(Schema.commit)
        cache.flush()
        let found = directory.cache()
        #expect(body(found, 0) == Data([UInt8(19_998 % 256)]) && body(found, 1) == Data([UInt8(19_999 % 256)]))
    }

    @Test("while another process writes, 100,000 changes wait at most", arguments: [true, false])
    func busyLimit(areRemovals: Bool) throws {
        let cache = directory.cache(time: ManualClock())
        cache.writer.suspend()
        cache.diskIsBusy()
        let urls = (0...100_000).map(url)
        cache.state.withLock { state in
            for url in urls.dropLast() {
                let key = Checksum64.of(url)
                state.log.append(
                    areRemovals ? .removeURL(url, urlKey: key) : .removeVariant(url: url, urlKey: key, variant: 1))
            }
        }
        cache.diskIsBusy()
        #expect(cache.state.withLock { $0.log.count } == 100_000)
        cache.change(.removeURL(urls[100_000], urlKey: Checksum64.of(urls[100_000])))
        #expect(cache.state.withLock { $0.log.count } == 1)
        cache.writer.queue.resume()
    }

    // MARK: - The end of the program

    @Test("the end of a program waits for the disk, for two seconds at most")
    func end() throws {
        let cache = directory.cache()
        cache.writer.suspend()
        try store(cache, 1, size: 100)
        OpenCaches.flushAtExit([cache], within: 0)
        #expect(pending(cache).bodies == 100)
        cache.writer.queue.resume()
        OpenCaches.flushAtExit([cache, cache], within: 1000)
        #expect(pending(cache).bodies == 0)
    }

    @Test(
        "a response that a program stored before it ended by itself is on the disk",
        .enabled(if: ChildProcess.isAvailable))
    func exit() throws {
        try ChildProcess("exit", directory).expectSuccess()
        let found = directory.cache().rows(of: "https://example.com/churn/1") { _ in true }.first?.body
        #expect(found.flatMap { StorageChurn.identify($0, key: 1) } != nil)
    }

    /// A cache of three entries, whose disk fails from now on, until the clock goes on.
    private func failing(_ clock: ManualClock) throws -> ResponseCache {
        let cache = directory.cache(memory: 1 << 20, time: clock)
        for number in 0..<3 { try store(cache, number, size: 1) }
        cache.flush()
        cache.writer.suspend()
        #expect(!cache.diskFailed())
        return cache
    }

    /// Lets the disk work again, and returns the entries that it has then.
    private func recovered(_ cache: ResponseCache, _ clock: ManualClock) -> [Int] {
        clock.advance(by: 2)
        cache.writer.queue.resume()
        cache.flush()
        let other = directory.cache()
        return (0..<3).filter { body(other, $0) != nil }
    }

    @Test("while the disk fails, any number of new responses costs no response on the disk", arguments: [1, 20_000])
    func replacements(_ urls: Int) throws {
        let clock = ManualClock()
        let cache = try failing(clock)
        for number in 0..<10_100 { try store(cache, 100 + number % urls, size: 1) }
        #expect(cache.state.withLock { $0.log.count } <= 10_000)
        #expect(recovered(cache, clock) == [0, 1, 2])
    }

    @Test("if a write fails, 10,000 of the changes that were pending stay at most")
    func failure() throws {
        let cache = try failing(ManualClock())
        cache.state.withLock { state in
            for number in 100..<20_100 {
                state.log.append(.store(row("https://example.com/\(number)", body: Data([1]))))
            }
        }
        #expect(!cache.diskFailed())
        #expect(cache.state.withLock { $0.log.count } <= 10_000)
        cache.writer.queue.resume()
    }

    @Test("if more than 10,000 removals are pending because the disk fails, everything is removed")
    func removals() throws {
        let clock = ManualClock()
        let cache = try failing(clock)
        for number in 0..<10_001 {
            #expect(cache.state.withLock { $0.log.count } == number)
            cache.change(.removeURL(url(100 + number), urlKey: Checksum64.of(url(100 + number))))
        }
        #expect(cache.state.withLock { $0.log.count } == 1)
        try store(cache, 0, size: 1)
        #expect(cache.state.withLock { $0.log.count } == 2)
        #expect(recovered(cache, clock) == [])
    }
}
