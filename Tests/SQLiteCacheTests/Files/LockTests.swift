import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// Time that passes only while connections wait for a lock.
private final class WaitingTime: Sendable {
    private struct State {
        var nanoseconds: UInt64 = 0
        var waits = 0
        var duringWait: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var waits: Int { state.withLock { $0.waits } }

    func advance(by seconds: Double) {
        state.withLock { $0.nanoseconds += UInt64(seconds * 1e9) }
    }

    /// Calls `body` once, in the middle of the next wait.
    func duringNextWait(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.duringWait = body }
    }

    func timeout(seconds: TimeInterval) -> BusyTimeout {
        BusyTimeout(
            seconds: seconds, pause: 2, now: { [self] in state.withLock { $0.nanoseconds } },
            sleep: { [self] in
                let duringWait = state.withLock { state in
                    state.nanoseconds += 100_000_000
                    state.waits += 1
                    defer { state.duringWait = nil }
                    return state.duringWait
                }
                duringWait?()
            })
    }
}

@Suite("Locks that other processes hold", .bounded)
struct LockTests {
    private let directory = TemporaryDirectory()
    private let time = WaitingTime()
    private let url = "https://example.com/x"

    private func cache(memory: Int, clock: ManualClock) -> ResponseCache {
        ResponseCache(
            memoryCapacity: memory, diskCapacity: 64 << 20, directory: directory.url, time: clock,
            busyTimeout: time.timeout(seconds: 2), report: { _ in })
    }

    private func store(_ cache: ResponseCache, _ body: Data) throws {
        cache.store(StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, body), keepsObject: false)
        cache.flush()
        try directory.settle()
    }

    private func body(_ cache: ResponseCache) -> Data? {
        cache.rows(of: url) { _ in true }.first.flatMap { row in
            row.body ?? cache.body(of: row.id, url: url)
        }
    }

    /// Keeps every other connection out while `body` runs, as a writer does that commits.
    ///
    /// - Parameter changes: false if the writer has changed nothing yet. Then it has no journal.
    private func whileLocked(changes: Bool = true, _ body: () throws -> Void) throws {
        let other = try directory.database()
        try other.execute("BEGIN EXCLUSIVE")
        if changes { try other.execute("UPDATE entries SET used = used + 1") }
        try body()
        try other.execute(Schema.commit)
    }

    @Test("lookups on a locked database wait two seconds together, and miss", arguments: [0, 20_000])
    func lookups(_ memory: Int) throws {
        let clock = ManualClock()
        let cache = cache(memory: memory, clock: clock)
        let stored = Data(repeating: 1, count: 10_000) + Data(repeating: 2, count: 30_000)
        try store(cache, stored)
        #expect(body(cache) == stored)
        try whileLocked {
            for _ in 0..<16 { #expect(body(cache) == nil) }
            #expect(time.waits == 20)
            time.advance(by: 2)
            for _ in 0..<16 { #expect(body(cache) == nil) }
            #expect(time.waits == 40)
        }
        // The lock is free, and no wait is needed to see that.
        #expect(body(cache) == stored)
        #expect(cache.state.withLock { $0.corrupt.count } == 0)
    }

    @Test("lookups wait for no lock while its holder has changed nothing")
    func lookupsWithoutLock() throws {
        let cache = cache(memory: 0, clock: ManualClock())
        try store(cache, Data(repeating: 1, count: 40_000))
        try whileLocked(changes: false) {
            #expect(body(cache) == Data(repeating: 1, count: 40_000))
        }
        #expect(time.waits == 0)
    }

    @Test("after one connection has waited in vain, none of them waits for a while")
    func pause() throws {
        try directory.makeGeneration()
        let timeout = time.timeout(seconds: 1)
        let connections = try (0..<3).map { _ in
            try Database(path: directory.generation.database, busyTimeout: timeout)
        }
        try whileLocked {
            for (expected, connection) in zip([10, 10, 10], connections) {
                #expect(throws: SQLiteFailure.self) { try connection.execute(Schema.beginWriting) }
                #expect(time.waits == expected)
            }
            time.advance(by: 2)
            #expect(throws: SQLiteFailure.self) { try connections[1].execute(Schema.beginWriting) }
            #expect(time.waits == 20)
        }
        try connections[2].execute(Schema.beginWriting)
    }

    @Test("memory does not answer with older entries while another thread reads the database")
    func staleness() throws {
        let clock = ManualClock()
        let cache = cache(memory: 1 << 20, clock: clock)
        try store(cache, Data([1]))
        #expect(body(cache) == Data([1]))
        let other = directory.cache(time: clock)
        other.change(.removeAll)
        try store(other, Data([2]))
        clock.advance(by: 1)
        let seen = Locked<[Data?]>([])
        try whileLocked {
            time.duringNextWait { [self] in
                let found = body(cache)
                seen.withLock { $0.append(found) }
            }
            _ = body(cache)
        }
        #expect(seen.withLock { $0 } == [nil])
        #expect(body(cache) == Data([2]))
    }
}
