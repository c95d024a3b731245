import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// One store that waits. It calls a closure when the writer takes it.
private final class OneStore: WriteSource {
    private struct State {
        var comings = 0
        var isWritten = false
        var pauses = 0
    }

    let diskCapacity = 8 << 20
    private let row: StoredRow
    private let state = Locked(State())
    private let comes: @Sendable (Int) -> Void

    init(_ body: Data, _ url: String = "https://example.com/x", comes: @escaping @Sendable (Int) -> Void = { _ in }) {
        let record = EncodedRecord(StoredRecord(Sample.stored(url)))
        row = StoredRow(
            id: 1, url: url, urlKey: Checksum64.of(url), revision: 1, stored: 1, record: record, variant: 1,
            bodySize: body.count, body: body)
        self.comes = comes
    }

    var pendingEnd: Int { 1 }
    var pauses: Int { state.withLock { $0.pauses } }
    var isWritten: Bool { state.withLock { $0.isWritten } }

    var now: Date { Date() }

    func nextBatch(_ budget: DiskBudget) -> (changes: [Change], end: Int) {
        let (coming, isWritten) = state.withLock { state in
            state.comings += 1
            return (state.comings, state.isWritten)
        }
        comes(coming)
        return isWritten ? ([], 1) : ([.store(row)], 1)
    }

    func didWrite(before end: Int) { state.withLock { $0.isWritten = true } }
    func didEvict(_ count: Int) {}
    func didRefuse() {}
    func abandonStores() {}
    func diskIsBusy() { state.withLock { $0.pauses += 1 } }
    func diskFailed() -> Bool { false }
    func didRemoveDatabase() {}
    func takeUsageTimes() -> [Int64: Int64] { [:] }
    func putBack(usageTimes: [Int64: Int64]) {}
}

@Suite("Writing behind the caller's back", .bounded)
struct WriterTests {
    private func row(_ id: Int64, _ variant: UInt64) -> StoredRow {
        StoredRow(
            id: id, url: "https://example.com/x", urlKey: 7, revision: id, stored: id, record: EncodedRecord(),
            variant: variant, bodySize: 0)
    }

    @Test("a flush that finds another process writing ends after a while, and the change is written later")
    func busy() throws {
        let directory = TemporaryDirectory()
        try directory.makeGeneration()
        let other = try WriteConnection(
            directory: directory.files, generation: directory.generation, busyTimeout: .none)
        try other.database.execute(Schema.beginWriting)
        let source = OneStore(Data([1]))
        let writer = DiskWriter(directory: directory.files, report: { _ in }, busyTimeout: .none)
        func flush() {
            let done = DispatchSemaphore(value: 0)
            writer.flush(from: source) { done.signal() }
            done.wait()
        }
        flush()
        #expect(!source.isWritten)
        #expect(source.pauses == 1)
        #expect(try directory.generation == other.generation, "a lock is no reason to give the database up")
        try other.database.execute(Schema.commit)
        flush()
        #expect(source.isWritten)
    }

    @Test("that a directory can't be opened for want of descriptors or memory is no failure of the disk")
    func refusedDirectory() {
        for (error, failure) in [
            (EMFILE, WriteFailure.outOfResources), (ENFILE, .outOfResources), (ENOMEM, .outOfResources),
            (EACCES, .failed), (EROFS, .failed),
        ] {
            errno = error
            let refusal = SQLiteFailure.system("the directory can't be opened")
            #expect(WriteFailure(refusal) == failure, "\(refusal)")
        }
    }

    @Test("that a file can't be opened is no corruption, whatever the error")
    func notOpened() {
        for error in [ESTALE, ETIMEDOUT, ENAMETOOLONG, EMFILE, EACCES, 0] {
            errno = error
            #expect(!SQLiteFailure.system("Database").isCorruption)
        }
        #expect(SQLiteFailure.corruption("the database does not exist").isCorruption)
    }

    @Test("two processes that make the same identifier lose nothing, and neither gets the other's body")
    func sameIdentifier() throws {
        let directory = TemporaryDirectory()
        let urls = ["https://example.com/x", "https://example.com/y"]
        for (url, byte) in zip(urls, UInt8(1)...) {
            let writer = DiskWriter(directory: directory.files, report: { _ in })
            let done = DispatchSemaphore(value: 0)
            writer.write(from: OneStore(Data(repeating: byte, count: 2000), url)) { done.signal() }
            done.wait()
        }
        let cache = directory.cache()
        for (url, byte) in zip(urls, UInt8(1)...) {
            let row = try #require(cache.rows(of: url) { _ in true }.first)
            #expect(row.body == Data(repeating: byte, count: 2000))
        }
        #expect(cache.body(of: 1, url: urls[0]) == Data(repeating: 1, count: 2000))
        #expect(cache.body(of: 1, url: urls[1]) == nil)
    }

    @Test("an entry that an update has replaced does not come back if the disk is newer than the lookup assumed")
    func replayedUpdate() {
        let update = RowUpdate(
            id: 1, url: "https://example.com/x", urlKey: 7, record: EncodedRecord(), variant: 20, revision: 3,
            stored: 3, isMemoryOnly: false)
        let waiting: [Change] = [.store(row(2, 20)), .update(update), .remove(id: 1, urlKey: 7)]
        // Before they are written, in the middle, and after: response 1 is of another variant until it is updated.
        for stored in [[row(1, 10)], [row(2, 20), row(1, 10)], []] {
            var rows = stored
            for change in waiting { change.apply(to: &rows, of: "https://example.com/x") }
            #expect(rows.isEmpty)
        }
    }

    @Test("a flush waits for the changes that are pending at its start, and not for later ones")
    func flushBesideStores() throws {
        let (directory, count, isOver) = (TemporaryDirectory(), Locked(0), Locked(false))
        let cache = directory.cache()
        /// Each store that is written makes another one.
        @Sendable func store() {
            guard !isOver.withLock({ $0 }) else { return }
            let number = count.withLock { count in
                count += 1
                return count
            }
            let url = "https://example.com/\(number)"
            guard let cached = try? Sample.cached(url, Data([1])) else { return }
            let fence = LateResponseFence(requested: Date(), time: SystemTime()) {
                store()
                return false
            }
            cache.store(StoredRecord(Sample.stored(url)), cached: cached, keepsObject: false, fence: fence)
        }
        store()
        cache.flush()  // returns, though the stores never end
        #expect(!directory.cache().rows(of: "https://example.com/1").isEmpty)
        isOver.withLock { $0 = true }
        var last: Int
        repeat {
            last = count.withLock { $0 }
            cache.flush()
        } while count.withLock { $0 } > last
        #expect(!directory.cache().rows(of: "https://example.com/\(last)").isEmpty)
    }

    @Test(
        "a removal by date also removes the entries that were stored in that very millisecond, on the disk or not",
        arguments: [true, false])
    func sameMillisecond(_ isFlushed: Bool) throws {
        let directory = TemporaryDirectory()
        let clock = ManualClock()
        let cache = directory.urlCache(memory: 0, time: clock)
        let request = try Sample.request("https://example.com/x")
        cache.storeCachedResponse(try Sample.cached("https://example.com/x", Data([1])), for: request)
        if isFlushed { cache.flush() }
        cache.removeCachedResponses(since: clock.now)
        #expect(cache.cachedResponse(for: request) == nil)
        cache.flush()
        #expect(cache.cachedResponse(for: request) == nil)
    }

    @Test("a pending store is superseded by one of its variant, unless an update may have changed the variant")
    func superseded() {
        var log = ChangeLog()
        var revisions: [Int64] { log.changes(for: 7).compactMap(\.revision) }
        for (id, variant) in [(1, 10), (2, 20), (3, 10)] as [(Int64, UInt64)] { log.append(.store(row(id, variant))) }
        #expect(revisions == [2, 3])
        log.append(
            .update(
                RowUpdate(
                    id: 3, url: "https://example.com/x", urlKey: 7, record: EncodedRecord(), variant: 30, revision: 4,
                    stored: 4, isMemoryOnly: false)))
        log.append(.store(row(5, 10)))
        #expect(revisions == [2, 3, 4, 5])
        let (first, rest) = (log.removeChanges(before: 1), log.removeChanges(before: 4))
        #expect(!first && rest)
        log.append(.store(row(6, 10)))
        #expect(revisions == [6])
        let abandoned = log.abandonStores()
        #expect(abandoned.map(\.id) == [6])
        log.append(.store(row(7, 10)))
        #expect(revisions == [7])
    }

    @Test("superseded changes do not stay, and a batch that was taken before they went has the same numbers afterwards")
    func supersededChangesGo() {
        var log = ChangeLog()
        log.append(.store(row(1, 1)))
        log.append(.removeURL("https://example.com/x", urlKey: 7))
        let batch = log.batch(maximumCount: 2, maximumBytes: 1 << 20)
        #expect(batch.end == 2)
        for id in 2..<1000 as Range<Int64> {
            log.append(.store(row(id, UInt64(2 + id % 3))))
            #expect(log.count < 200)
        }
        #expect(log.end == 1000)
        #expect(log.changes(for: 7).compactMap(\.revision) == [1, 997, 998, 999])
        let hasStores = log.removeChanges(before: batch.end)
        #expect(hasStores)
        #expect(log.changes(for: 7).compactMap(\.revision) == [997, 998, 999])
        let rest = log.batch(maximumCount: 10, maximumBytes: 1 << 20)
        #expect(rest.changes.compactMap(\.revision) == [997, 998, 999] && rest.end == 1000)
        _ = log.removeChanges(before: rest.end)
        #expect(log.isEmpty && log.cost == 0 && log.changes(for: 7).isEmpty)
    }

    @Test("the cost of pending changes includes their overhead, so that many small responses wait for the disk, too")
    func backlog() throws {
        var log = ChangeLog()
        let url = "https://example.com/x"
        let record = EncodedRecord(StoredRecord(Sample.stored(url)))
        for number in 0..<1000 {
            let id = Int64(number)
            log.append(
                .store(
                    StoredRow(
                        id: id, url: url, urlKey: 1, revision: id, stored: id, record: record,
                        variant: UInt64(number), bodySize: 1, body: Data([1]))))
        }
        #expect(log.bodyBytes == 1000)
        #expect(log.cost > 500_000)
        #expect(log.abandonStores().count == 1000)
        #expect(log.bodyBytes == 0)
        _ = log.removeChanges(before: log.end)
        #expect(log.cost == 0)
    }
}
