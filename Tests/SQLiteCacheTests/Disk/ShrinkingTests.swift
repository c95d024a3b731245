import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("A capacity that is lowered", .bounded)
struct ShrinkingTests {
    @Test("a smaller capacity evicts, and gives the space back")
    func shrinking() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(disk: 16 << 20)
        for number in 0..<300 {
            let url = "https://example.com/\(number)"
            cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(30_000, seed: UInt64(number))))
        }
        cache.flush()
        #expect(try directory.allocatedBytes() > 8 << 20)
        cache.diskCapacity = 2 << 20
        cache.flush()
        directory.waitForRemovals()
        #expect(try directory.allocatedBytes() <= (2 << 20) * 11 / 10)
        #expect(cache.statistics.evictions > 200)
        cache.diskCapacity = 0
        cache.flush()
        directory.waitForRemovals()
        #expect(try directory.allocatedBytes() < 200_000)
        #expect(cache.entries(for: "https://example.com/299").isEmpty)
    }

    @Test("a much smaller capacity copies the last used entries into a new generation, with bodies in files or not")
    func shrinkingAtOnce() throws {
        let directory = TemporaryDirectory()
        let clock = ManualClock()
        let cache = directory.urlCache(disk: 32 << 20, time: clock)
        let sizes = [200, 4000, 30_000]
        let urls = (0..<300).map { "https://example.com/\($0)" }
        for (number, url) in urls.enumerated() {
            clock.advance(by: 1)  // entries that were used at the same moment go in no particular order
            cache.store(
                Sample.stored(url), as: try Sample.cached(url, Sample.body(sizes[number % 3], seed: UInt64(number))))
        }
        cache.flush()
        let generation = try Generation.newest(in: directory.files)
        cache.diskCapacity = 2 << 20
        cache.flush()
        #expect(try Generation.newest(in: directory.files) != generation)
        directory.waitForRemovals()
        #expect(try directory.allocatedBytes() <= (2 << 20) * 11 / 10)
        let kept = try urls.map { try cache.cachedResponse(for: Sample.request($0))?.data }
        for (number, body) in kept.enumerated() where body != nil {
            #expect(body == Sample.body(sizes[number % 3], seed: UInt64(number)))
        }
        let first = try #require(kept.firstIndex { $0 != nil })
        // The shrink did not also remove half of the entries that fit, and it removed only the least recently used ones.
        #expect((100..<200).contains(first))
        #expect(kept[first...].allSatisfy { $0 != nil })
        #expect(cache.statistics.evictions == first)
        #expect(cache.statistics.corruptEntriesDropped == 0)
        cache.storeCachedResponse(try Sample.cached(urls[0], Data([1])), for: try Sample.request(urls[0]))
        cache.flush()
        #expect(try cache.cachedResponse(for: Sample.request(urls[0]))?.data == Data([1]))
    }

    @Test(
        "a corrupt length of an entry that is kept makes a smaller capacity evict no other entry",
        arguments: ["length + (1 << 46)", "length | (1 << 19)", "-5"])
    func corruptLength(_ corrupt: String) throws {
        func evictions(settingLengthTo length: String) throws -> Int {
            let directory = TemporaryDirectory()
            let clock = ManualClock()
            let cache = directory.urlCache(disk: 8 << 20, time: clock)
            for number in 0..<2000 {
                clock.advance(by: 1)
                let url = "https://example.com/\(number)"
                cache.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(300, seed: UInt64(number))))
            }
            cache.flush()
            try directory.database().execute(
                "UPDATE entries SET length = \(length) WHERE id = (SELECT max(id) FROM entries)")
            let before = try directory.generation.number
            cache.diskCapacity = 700 << 10
            cache.flush()
            #expect(try directory.generation.number == before + 1)
            return cache.statistics.evictions
        }
        let (expected, found) = (
            try evictions(settingLengthTo: "length"), try evictions(settingLengthTo: corrupt)
        )
        #expect((500..<1500).contains(expected))
        #expect(abs(found - expected) <= 1)
    }

    // MARK: - Shrinking that does not come to its end

    private static let sizes = [200, 4000, 30_000]
    private static let urls = (0..<300).map { "https://example.com/\($0)" }

    private static func body(_ number: Int) -> Data { Sample.body(sizes[number % 3], seed: UInt64(number)) }

    /// A cache of 300 entries, which were used in the order of their numbers.
    private func fill(_ directory: TemporaryDirectory) throws -> SQLiteURLCache {
        let clock = ManualClock()
        let cache = directory.urlCache(disk: 32 << 20, time: clock)
        for (number, url) in Self.urls.enumerated() {
            clock.advance(by: 1)
            cache.store(Sample.stored(url), as: try Sample.cached(url, Self.body(number)))
        }
        cache.flush()
        return cache
    }

    /// The numbers of the entries that are found, each with its own body.
    private func found(_ cache: SQLiteURLCache) throws -> [Int] {
        try Self.urls.indices.filter { number in
            let request = try Sample.request(Self.urls[number])
            guard let data = cache.cachedResponse(for: request)?.data else { return false }
            #expect(data == Self.body(number))
            return true
        }
    }

    @Test("where a body file can't be linked, entries are evicted from the generation in use")
    func fallingBack() throws {
        let directory = TemporaryDirectory()
        let cache = try fill(directory)
        let generation = try directory.generation
        // The body of the last entry, which is to be kept. No file system links a directory.
        let names = try FileManager.default.contentsOfDirectory(atPath: generation.bodies.settled)
        let last = try #require(names.compactMap { Int64($0) }.max())
        FileSystem.remove(generation.bodies.settledPath(last))
        try #require(mkdir(generation.bodies.settledPath(last), 0o700) == 0)
        cache.diskCapacity = 2 << 20
        cache.flush()
        #expect(try directory.generation == generation)
        directory.waitForRemovals()
        #expect(try FileSystem.names(in: directory.url.path)?.count == 1, "the draft is gone")
        #expect(try directory.allocatedBytes() <= (2 << 20) * 11 / 10)
        let kept = try found(cache)
        let first = try #require(kept.first)
        #expect((100..<250).contains(first))
        #expect(kept == Array(first..<299))
    }

    @Test("a process that is killed while it copies loses nothing, and its draft goes with the next write")
    func killedWhileCopying() throws {
        let directory = TemporaryDirectory()
        let cache = try fill(directory)
        cache.close()
        let generation = try directory.generation
        // What it leaves: half a database, and links to body files.
        let draft = directory.url.path + "/New-1-0123456789abcdef"
        try FileManager.default.createDirectory(atPath: draft + "/Bodies", withIntermediateDirectories: true)
        try Data(contentsOf: URL(fileURLWithPath: generation.database)).prefix(100_000)
            .write(to: URL(fileURLWithPath: draft + "/Database"))
        for name in try FileManager.default.contentsOfDirectory(atPath: generation.bodies.settled) {
            try #require(link(generation.bodies.settled + "/" + name, draft + "/Bodies/" + name) == 0)
        }
        #expect(try found(cache) == Array(0..<300))
        cache.removeCachedResponse(for: try Sample.request(Self.urls[0]))
        cache.flush()
        #expect(FileSystem.status(draft) == nil)
        #expect(try found(cache) == Array(1..<300))
        #expect(cache.statistics.corruptEntriesDropped == 0)
    }

    @Test("a process that is killed when the copy has its name leaves the copy in use")
    func killedAfterCopying() throws {
        let directory = TemporaryDirectory()
        let cache = try fill(directory)
        cache.close()
        let generation = try directory.generation
        try Generation.make(after: generation, in: directory.files) { draft in
            try FileManager.default.copyItem(atPath: generation.database, toPath: draft.database + "-copy")
            try #require(rename(draft.database + "-copy", draft.database) == 0)
            for name in try FileManager.default.contentsOfDirectory(atPath: generation.bodies.settled) {
                try #require(link(generation.bodies.settled + "/" + name, draft.bodies + "/" + name) == 0)
            }
        }
        #expect(FileSystem.status(generation.path) != nil)
        #expect(try found(cache) == Array(0..<300))
        cache.removeCachedResponse(for: try Sample.request(Self.urls[0]))
        cache.flush()
        #expect(FileSystem.status(generation.path) == nil)
        #expect(try found(cache) == Array(1..<300))
        #expect(cache.statistics.corruptEntriesDropped == 0)
    }

    // MARK: - Removals since a date

    @Test(
        "a removal of most entries by their dates copies the others, that of all makes an empty database",
        arguments: [0, 50, 250, 300])
    func removingSince(_ kept: Int) throws {
        let directory = TemporaryDirectory()
        let cache = try fill(directory)
        let generation = try directory.generation
        // The first was stored one second after the clock's start.
        let start = ManualClock().now
        cache.removeCachedResponses(since: start.addingTimeInterval(TimeInterval(kept + 1)))
        cache.flush()
        #expect(try directory.generation.number == generation.number + (kept < 150 ? 1 : 0))
        #expect(try found(cache) == Array(0..<kept))
        #expect(try found(directory.urlCache()) == Array(0..<kept))
        cache.store(Sample.stored(Self.urls[299]), as: try Sample.cached(Self.urls[299], Self.body(299)))
        cache.flush()
        #expect(try found(directory.urlCache()) == Array(0..<min(kept, 299)) + [299])
        #expect(cache.statistics.corruptEntriesDropped == 0)
    }
}
