import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Memory, and what other processes change", .bounded)
struct MemoryOnlyTests {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock()
    private let url = "https://example.com/x"
    private let other = "https://example.com/y"

    private func cache() -> ResponseCache { directory.cache(memory: 1 << 20, time: clock) }

    private func store(_ cache: ResponseCache, _ url: String, _ byte: UInt8, isMemoryOnly: Bool = false) {
        cache.store(StoredRecord(Sample.stored(url)), body: Data([byte]), isMemoryOnly: isMemoryOnly)
        cache.flush()
    }

    private func body(_ cache: ResponseCache, _ url: String) -> Data? {
        cache.rows(of: url) { _ in true }.first.flatMap { row in
            row.body ?? cache.body(of: row.id, url: url)
        }
    }

    /// A cache with a response on the disk and one in memory only.
    private func filled() -> ResponseCache {
        let cache = cache()
        store(cache, other, 1)
        store(cache, url, 2, isMemoryOnly: true)
        #expect(body(cache, url) == Data([2]) && body(cache, other) == Data([1]))
        clock.advance(by: 1)
        return cache
    }

    @Test("what only memory has goes within a second when another process removes everything")
    func removalOfEverything() {
        let (one, another) = (filled(), cache())
        another.change(.removeAll)
        another.flush()
        clock.advance(by: 1)
        #expect(body(one, url) == nil && body(one, other) == nil)
    }

    @Test("what only memory has goes when another process removes its URL")
    func removalOfURL() {
        let (one, another) = (filled(), cache())
        guard case .granted = one.lease(1, for: 1) else { return }  // without leases, processes do not note removals
        another.change(.removeURL(other, urlKey: Checksum64.of(other)))
        another.flush()
        clock.advance(by: 1)
        #expect(body(one, url) == Data([2]))
        another.change(.removeURL(url, urlKey: Checksum64.of(url)))
        another.flush()
        #expect(body(one, url) == nil)
        clock.advance(by: 1)
        store(one, url, 4, isMemoryOnly: true)
        clock.advance(by: 5)
        #expect(body(one, url) == Data([4]))
    }

    @Test("what only memory has stays when this process itself replaces the generation", arguments: 0..<3)
    func ownGeneration(_ kind: Int) {
        let cache = filled()
        switch kind {
        case 0: cache.change(.removeAll)
        case 1: cache.change(.removeSince(0))
        default: cache.diskCapacity = 0
        }
        store(cache, url, 3, isMemoryOnly: true)
        cache.diskCapacity = 64 << 20
        store(cache, "https://example.com/z", 4)
        for _ in 0..<3 {
            clock.advance(by: 1)
            #expect(body(cache, url) == Data([3]))
        }
    }

    @Test("a store that was given up while the disk took it is listed once")
    func givenUp() throws {
        let cache = cache()
        store(cache, url, 1)
        cache.state.withLock { state in
            state.memory.keepOffDisk(state.memory.knownRows(of: url, urlKey: Checksum64.of(url)))
            state.memory.invalidateAll()
        }
        #expect(cache.rows(of: url).count == 1)
    }

    @Test("memory knows of a change before another lookup gets the connection that has noticed it")
    func lookupInBetween() throws {
        let (one, another) = (cache(), cache())
        store(one, url, 1)
        #expect(body(one, url) == Data([1]))
        clock.advance(by: 1)
        #expect(body(one, url) == Data([1]))
        store(another, url, 2)
        clock.advance(by: 1)
        let found = one.readDisk { connection in
            try one.verifyMemory(by: connection, at: clock.now)
            return body(one, url)
        }
        #expect(found == Data([2]))
    }
}
