import Foundation
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// A clock that a test also sets back.
private final class SettableClock: TimeSource {
    private let time = Locked(Date(timeIntervalSince1970: 1_800_000_000))

    var now: Date { time.withLock { $0 } }

    func move(by seconds: TimeInterval) { time.withLock { $0 += seconds } }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void { {} }
}

@Suite("A clock that is set back", .bounded)
struct ClockTests {
    private static let year: TimeInterval = 365 * 86_400
    private let directory = TemporaryDirectory()
    private let clock = SettableClock()

    private func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private func store(_ numbers: Range<Int>, in cache: ResponseCache) throws {
        for number in numbers {
            cache.store(
                StoredRecord(Sample.stored(url(number))),
                cached: try Sample.cached(url(number), Sample.body(30_000, seed: UInt64(number))), keepsObject: false)
            cache.flush()
        }
    }

    @Test("does not keep usage times from being written")
    func usageTimes() throws {
        let cache = directory.cache(time: clock)
        try store(0..<1, in: cache)
        let id = try #require(cache.rows(of: url(0)).first).id
        clock.move(by: 10)
        cache.markUsed(id)
        clock.move(by: -Self.year)
        cache.markUsed(id)
        cache.writer.queue.sync {}
        #expect(cache.state.withLock { $0.usageTimes.isEmpty })
    }

    @Test("does not make the cache evict what is stored from then on", arguments: [true, false])
    func eviction(isOpen: Bool) throws {
        clock.move(by: Self.year)
        var cache = directory.cache(disk: 2 << 20, time: clock)
        try store(0..<80, in: cache)
        cache.close()
        clock.move(by: -Self.year)
        if !isOpen { cache = directory.cache(disk: 2 << 20, time: clock) }
        try store(100..<116, in: cache)
        for number in 100..<116 { #expect(!cache.rows(of: url(number)).isEmpty, "\(number)") }
        #expect(cache.rows(of: url(0)).isEmpty)
        #expect(Date(milliseconds: try directory.database().integer("SELECT max(used) FROM entries")) <= clock.now)
    }
}
