import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Capacity of the cache", .bounded)
struct CapacityTests {
    @Test("the files are never more than a tenth over their capacity, and the usage is what du says", arguments: 0..<4)
    func diskCapacity(_ seed: Int) throws {
        let directory = TemporaryDirectory()
        let capacity = [1 << 20, 3 << 20, 8 << 20, 20 << 20][seed]
        let cache = directory.urlCache(disk: capacity)
        var random = SeededGenerator(seed: UInt64(seed))
        var largest = 0
        for number in 0..<400 {
            let sizes = [200, 2000, 20_000, 60_000, 100_000, 300_000]
            let size = sizes.randomElement(using: &random) ?? 0
            let url = "https://example.com/\(Int.random(in: 0..<300, using: &random))"
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(size, seed: UInt64(number))))
            if number % 20 == 0 {
                cache.flush()
                largest = max(largest, try directory.allocatedBytes())
            }
        }
        cache.flush()
        let allocated = try directory.allocatedBytes()
        largest = max(largest, allocated)
        #expect(largest <= capacity * 11 / 10)
        #expect(largest > capacity / 2)
        #expect(abs(cache.currentDiskUsage - allocated) <= allocated / 20)
    }

    @Test("at no moment are the files more than a tenth over their capacity", arguments: [1 << 20, 6 << 20])
    func peak(_ capacity: Int) throws {
        let directory = TemporaryDirectory()
        try directory.leaveBehind(older: capacity / 2, strayBodies: capacity / 2)
        let cache = directory.urlCache(disk: capacity)
        var random = SeededGenerator(seed: UInt64(capacity))
        var largest = 0
        let stopped = Locked(false)
        let readers = onThreads(2) { reader in
            var random = SeededGenerator(seed: UInt64(reader))
            while !stopped.withLock({ $0 }) {
                _ = cache.entries(for: "https://example.com/\(Int.random(in: 0..<3000, using: &random))")
            }
        }
        var total = 0
        var number = 0
        while total < capacity * 3 {
            number += 1
            // Many small ones, then ever larger ones: files get the space that the database gives up.
            let sizes = total < capacity * 3 / 2 ? [100, 300, 2000] : [20_000, 65_537, 65_537, 120_000, capacity / 3]
            let size = sizes.randomElement(using: &random) ?? 0
            total += size + 1000
            let url = "https://example.com/\(number)"
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(size, seed: UInt64(number))))
            if number % 16 == 0 { largest = max(largest, try directory.allocatedBytes()) }
        }
        stopped.withLock { $0 = true }
        readers.wait()
        #expect(largest <= capacity * 11 / 10)
        cache.flush()
        #expect(try directory.allocatedBytes() <= capacity * 11 / 10)
    }

    @Test(
        "four pages for each change of a transaction fit its journal", arguments: [200_000, 1 << 20, 16 << 20, 1 << 30])
    func journal(_ capacity: Int) {
        let budget = DiskBudget(capacity: capacity)
        #expect(budget.batchCount * 4 * 4096 <= budget.journal)
    }

    @Test("bodies a little larger than a block are counted as du counts them")
    func blocks() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        for number in 0..<50 {
            let url = "https://example.com/\(number)"
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(65_537, seed: UInt64(number))))
        }
        cache.flush()
        let allocated = try directory.allocatedBytes()
        #expect(abs(cache.currentDiskUsage - allocated) <= allocated / 20)
    }

    @Test("an instance without a disk leaves that of the others alone, and is left alone by them")
    func withoutDisk() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(disk: 8 << 20)
        let url = "https://example.com/1"
        let request = try Sample.request(url)
        cache.storeCachedResponse(try Sample.cached(url, Data([1])), for: request)
        cache.flush()
        let other = directory.urlCache(memory: 1 << 20, disk: 0)
        #expect(other.cachedResponse(for: request) == nil)
        other.storeCachedResponse(try Sample.cached(url, Data([2])), for: request)
        other.flush()
        #expect(cache.diskCapacity == 8 << 20)
        #expect(cache.cachedResponse(for: request)?.data == Data([1]))
        let third = directory.urlCache(memory: 1 << 20, disk: 8 << 20)
        #expect(other.diskCapacity == 0)
        #expect(other.cachedResponse(for: request)?.data == Data([2]))
        other.removeCachedResponse(for: request)
        other.flush()
        #expect(third.cachedResponse(for: request) == nil)
    }

    @Test("removing everything gives the space back")
    func removingAll() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(disk: 16 << 20)
        for number in 0..<100 {
            let url = "https://example.com/\(number)"
            let size = number % 5 == 0 ? 90_000 : 30_000
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(size, seed: UInt64(number))))
        }
        cache.flush()
        cache.removeAllCachedResponses()
        cache.flush()
        directory.waitForRemovals()
        #expect(try directory.allocatedBytes() < 200_000)
        #expect(cache.statistics.entries == 0)
    }

    @Test("the least recently used entry goes first, and use in memory counts, too", arguments: [0, 8 << 20])
    func leastRecentlyUsed(_ memory: Int) throws {
        let directory = TemporaryDirectory()
        let clock = ManualClock()
        let cache = directory.urlCache(memory: memory, disk: 2 << 20, time: clock)
        func store(_ number: Int) throws {
            let url = "https://example.com/\(number)"
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(30_000, seed: UInt64(number))))
            clock.advance(by: 1)
        }
        for number in 0..<40 { try store(number) }
        cache.flush()
        let kept = [0, 3, 7]
        for number in 40..<200 {
            for number in kept { #expect(!cache.entries(for: "https://example.com/\(number)").isEmpty) }
            try store(number)
        }
        cache.flush()
        let other = directory.cache(disk: 2 << 20)
        for number in kept { #expect(!other.rows(of: "https://example.com/\(number)").isEmpty) }
        #expect(other.rows(of: "https://example.com/1").isEmpty)
        #expect(!other.rows(of: "https://example.com/199").isEmpty)
    }

    @Test("memory is bounded by bytes, least recently used first")
    func memoryCapacity() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: 100_000, disk: 0)
        for number in 0..<20 {
            let url = "https://example.com/\(number)"
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(10_000, seed: UInt64(number))))
            #expect(!cache.entries(for: "https://example.com/0").isEmpty)
            #expect(cache.currentMemoryUsage <= 100_000)
        }
        #expect(cache.currentMemoryUsage > 70_000)
        #expect(cache.entries(for: "https://example.com/1").isEmpty)
        #expect(!cache.entries(for: "https://example.com/19").isEmpty)
        cache.memoryCapacity = 25_000
        #expect(cache.currentMemoryUsage <= 25_000)
        #expect(!cache.entries(for: "https://example.com/19").isEmpty)
    }

    @Test("a body that is larger than memory is on the disk, and one that is larger than the disk in memory")
    func largeBodies() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: 300_000, disk: 1 << 20)
        let sizes = ["memory": 200_000, "disk": 400_000, "neither": 2 << 20]
        for (name, size) in sizes {
            let url = "https://example.com/\(name)"
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(size, seed: 1)))
        }
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            for (name, size) in sizes {
                let entry = cache.entries(for: "https://example.com/\(name)").first
                let body = entry.flatMap { cache.body(of: $0) }
                #expect(body == (name == "neither" ? nil : Sample.body(size, seed: 1)), "\(name)")
            }
        }
    }

    @Test("a body in memory is handed out without a copy")
    func noCopy() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: 1 << 20)
        let request = try Sample.request("https://example.com/x")
        cache.storeCachedResponse(
            try Sample.cached("https://example.com/x", Sample.body(50_000, seed: 1)), for: request)
        let found = try (0..<2).map { _ in try #require(cache.cachedResponse(for: request)) }
        #expect(found[0] === found[1])
        cache.flush()
        let entry = try #require(cache.entries(for: "https://example.com/x").first)
        let addresses = (0..<2).map { _ in
            cache.body(of: entry)?.withUnsafeBytes { $0.baseAddress.map { Int(bitPattern: $0) } }
        }
        #expect(addresses[0] == addresses[1])
    }

    @Test("of a URL that varies without end a limited number of variants is kept")
    func variants() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/x"
        for number in 0..<200 {
            cache.store(
                Sample.stored(url, selecting: [("Accept", "\(number)")]),
                as: try Sample.cached(url, Data("\(number)".utf8))
            )
        }
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            let entries = cache.entries(for: url)
            #expect(entries.count == Change.maximumVariants)
            #expect(entries.first?.response.selectingFields["Accept"] == "199")
        }
    }

    @Test("statistics count what is there and what has happened")
    func statistics() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let request = try Sample.request("https://example.com/x")
        #expect(cache.cachedResponse(for: request) == nil)
        cache.storeCachedResponse(try Sample.cached("https://example.com/x", Data([1])), for: request)
        #expect(cache.statistics.entries == 1)
        cache.flush()
        #expect(cache.cachedResponse(for: request) != nil)
        let statistics = cache.statistics
        #expect(statistics.entries == 1)
        #expect(statistics.hits == 1)
        #expect(statistics.misses == 1)
        #expect(statistics.corruptEntriesDropped == 0)
        #expect(statistics.bytes == cache.currentDiskUsage)
    }

    @Test("a cache sees within a second, in memory, too, what another process stores and removes")
    func otherProcesses() throws {
        let directory = TemporaryDirectory()
        let clock = ManualClock()
        let one = directory.cache(memory: 1 << 20, time: clock)
        let other = directory.cache(memory: 1 << 20, time: clock)
        let url = "https://example.com/x"
        func store(_ cache: ResponseCache, _ body: Data) throws {
            cache.store(StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, body), keepsObject: false)
            cache.flush()
        }
        func body(_ cache: ResponseCache) -> Data? {
            cache.rows(of: url).first.flatMap { row in cache.body(of: row.id, url: url) }
        }
        try store(one, Data([1]))
        #expect(body(other) == Data([1]))
        try store(one, Data([2]))
        clock.advance(by: 1)
        #expect(body(other) == Data([2]))
        other.change(.removeAll)
        other.flush()
        clock.advance(by: 1)
        #expect(body(one) == nil)
    }
}

extension TemporaryDirectory {
    /// The files that a damaged cache may leave: an older generation, and bodies without entries.
    fileprivate func leaveBehind(older: Int, strayBodies: Int) throws {
        try files.prepare()
        try Generation.make(after: nil, in: files)
        try Data(repeating: 1, count: older).write(to: URL(fileURLWithPath: generation.database))
        try Generation.make(after: generation, in: files)
        for number in 0..<8 {
            let path = try generation.bodies.settledPath(Int64(number))
            try Data(repeating: 1, count: strayBodies / 8).write(to: URL(fileURLWithPath: path))
        }
    }
}
