import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Changes that could not be written", .bounded)
struct RetryTests {
    private let directory = TemporaryDirectory()
    /// In nanoseconds.
    private let time = Locked<UInt64>(1_000_000_000)

    private func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private func store(_ cache: ResponseCache, _ number: Int) throws {
        let cached = try Sample.cached(url(number), Data([UInt8(number)]))
        cache.store(StoredRecord(Sample.stored(url(number))), cached: cached, keepsObject: false)
    }

    private func found(_ cache: ResponseCache) -> [Int] {
        (1...5).filter { cache.rows(of: url($0)) { _ in true }.first?.body == Data([UInt8($0)]) }
    }

    private func fill() throws {
        let cache = directory.cache()
        for number in 1...3 { try store(cache, number) }
        cache.close()
    }

    private func writer(retryInterval: TimeInterval = 1_000_000) -> DiskWriter {
        DiskWriter(
            directory: directory.files, report: { _ in }, busyTimeout: .none, retryInterval: retryInterval,
            now: { [time] in time.withLock { $0 } })
    }

    private func flush(_ writer: DiskWriter, _ source: OneRemoval, isLast: Bool = false) {
        let done = DispatchSemaphore(value: 0)
        writer.flush(from: source, isLast: isLast) { done.signal() }
        done.wait()
    }

    @Test("are tried again by themselves, after two seconds")
    func retry() throws {
        #expect(DiskRecovery.retryInterval == 2)
        try fill()
        let other = try directory.database()
        try other.execute(Schema.beginWriting)
        let (writer, source) = (writer(retryInterval: 0), OneRemoval(url(1)))
        flush(writer, source)
        #expect(!source.isWritten)
        try other.execute(Schema.commit)
        source.waitUntilWritten()
        #expect(found(directory.cache()) == [2, 3])
    }

    @Test("are written even if their cache is released while another process writes")
    func released() throws {
        try fill()
        let other = try directory.database()
        try other.execute(Schema.beginWriting)
        let writer = writer(retryInterval: 0)
        weak var released: OneRemoval?
        do {
            let source = OneRemoval(url(1))
            released = source
            flush(writer, source)
            writer.suspend()  // no attempt is running when the source is released
        }
        try other.execute(Schema.commit)
        writer.queue.resume()
        while released != nil { sched_yield() }
        #expect(found(directory.cache()) == [2, 3])
    }

    @Test("are written by themselves if they are removals that were made while the disk failed")
    func madeWhileFailing() throws {
        try fill()
        weak var released: ResponseCache?
        do {
            let cache = ResponseCache(
                memoryCapacity: 0, diskCapacity: 8 << 20, directory: directory.url, time: ManualClock(),
                retryInterval: 0, report: { _ in })
            released = cache
            #expect(!cache.diskFailed())
            cache.change(.removeURL(url(1), urlKey: Checksum64.of(url(1))))
        }
        while released != nil { sched_yield() }
        #expect(found(directory.cache()) == [2, 3])
    }

    @Test("are given up if they are stores, and the next store tries the disk again")
    func stores() throws {
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        #expect(chmod(directory.url.path, 0o777) == 0)
        let cache = directory.cache(memory: 1 << 20, time: ManualClock())
        try store(cache, 1)
        cache.flush()
        #expect(chmod(directory.url.path, 0o700) == 0)
        try store(cache, 2)
        cache.flush()
        #expect(found(directory.cache()) == [2])
        #expect(found(cache) == [1, 2])
    }
}

#if canImport(CSQLite)
    import CSQLite

    /// What the system refuses SQLite in some directories.
    private enum Refusal {
        /// The disk is full.
        case write
        /// There is no room for a journal.
        case journal
        /// The process has no descriptors left.
        case open
        /// The process has no descriptor left for writing, and a moment later one for reading.
        case openForWriting

        private static let refusals = Locked<[String: Refusal]>([:])

        func during(in directory: TemporaryDirectory, _ body: () throws -> Void) throws {
            try #require(Self.isPossible)
            Self.refusals.withLock { $0[directory.url.path] = self }
            defer { Self.refusals.withLock { $0[directory.url.path] = nil } }
            try body()
        }

        private func isRefused(_ path: () -> String?) -> Bool {
            Self.refusals.withLock { refusals in
                if refusals.isEmpty { return false }
                let path = path() ?? ""
                return refusals.contains { $0.value == self && path.hasPrefix($0.key) }
            }
        }

        private static func isFull(_ file: Int32) -> Bool {
            let path = { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)") }
            let isJournal = { path()?.hasSuffix("-journal") == true }
            guard Refusal.write.isRefused(path) || (Refusal.journal.isRefused(path) && isJournal()) else {
                return false
            }
            errno = ENOSPC
            return true
        }

        /// Whether the functions are in place of the system's own, for good.
        private static let isPossible: Bool = {
            let open: @convention(c) (UnsafePointer<CChar>, Int32, Int32) -> Int32 = { path, flags, mode in
                let refusal = flags & O_ACCMODE == O_RDWR ? Refusal.openForWriting : .open
                guard [.open, refusal].contains(where: { $0.isRefused { String(cString: path) } }) else {
                    return Foundation.open(path, flags, mode_t(mode))
                }
                errno = EMFILE
                return -1
            }
            let write: @convention(c) (Int32, UnsafeRawPointer, Int) -> Int = { file, bytes, count in
                Refusal.isFull(file) ? -1 : Foundation.write(file, bytes, count)
            }
            let pwrite: @convention(c) (Int32, UnsafeRawPointer, Int, off_t) -> Int = { file, bytes, count, offset in
                Refusal.isFull(file) ? -1 : Foundation.pwrite(file, bytes, count, offset)
            }
            // SQLite has one type for all system calls, which it casts back.
            let calls = [
                ("open", unsafeBitCast(open, to: sqlite3_syscall_ptr.self)),
                ("write", unsafeBitCast(write, to: sqlite3_syscall_ptr.self)),
                ("pwrite", unsafeBitCast(pwrite, to: sqlite3_syscall_ptr.self)),
                ("pwrite64", unsafeBitCast(pwrite, to: sqlite3_syscall_ptr.self)),
            ]
            let system = sqlite3_vfs_find("unix")
            return calls.allSatisfy { system?.pointee.xSetSystemCall?(system, $0.0, $0.1) == SQLITE_OK }
        }()
    }

    extension RetryTests {
        @Test(
            "cost the generation if they are removals, after 20 seconds or at the end of the program",
            arguments: [false, true])
        func removals(isLast: Bool) throws {
            #expect(DiskRecovery.longestFailure == 20_000_000_000)
            try fill()
            let generation = try directory.generation
            let (writer, source) = (writer(), OneRemoval(url(1)))
            try Refusal.write.during(in: directory) { () throws in
                if !isLast {
                    for later: UInt64 in [0, 20_000_000_000] {
                        time.withLock { $0 += later }
                        flush(writer, source)
                        #expect(try directory.generation == generation)
                    }
                    time.withLock { $0 += 1 }
                }
                flush(writer, source, isLast: isLast)
            }
            #expect(try Generation.newest(in: directory.files) == nil)
            #expect(source.lostDatabases == 1)
            #expect(found(directory.cache()) == [])
        }

        @Test("do not cost the generation if one was written in between, though without a journal")
        func writtenInBetween() throws {
            try fill()
            let generation = try directory.generation
            let (writer, source, next) = (writer(), OneRemoval(url(1)), OneRemoval(url(2)))
            try Refusal.write.during(in: directory) { flush(writer, source) }
            #expect(!source.isWritten)
            try Refusal.journal.during(in: directory) { flush(writer, source) }
            #expect(source.isWritten && FileSystem.status(generation.journal) != nil, "another process may use it")
            time.withLock { $0 += 60_000_000_000 }
            try Refusal.write.during(in: directory) { flush(writer, next) }
            #expect(try directory.generation == generation)
            #expect(!next.isWritten && next.lostDatabases == 0)
        }

        @Test("do not cost the generation if another process has held the lock in between")
        func busyInBetween() throws {
            try fill()
            let generation = try directory.generation
            let (writer, source, other) = (writer(), OneRemoval(url(1)), try directory.database())
            try Refusal.write.during(in: directory) { flush(writer, source) }
            time.withLock { $0 += 60_000_000_000 }
            try other.execute(Schema.beginWriting)
            flush(writer, source)
            try other.execute(Schema.commit)
            try Refusal.write.during(in: directory) { flush(writer, source) }
            #expect(source.lostDatabases == 0)
            #expect(try directory.generation == generation)
        }

        @Test("keep new responses in memory for two seconds if they are removals")
        func pause() throws {
            try fill()
            let clock = ManualClock()
            let cache = directory.cache(memory: 1 << 20, time: clock)
            try Refusal.write.during(in: directory) {
                cache.change(.removeURL(url(1), urlKey: Checksum64.of(url(1))))
                cache.flush()
                cache.writer.suspend()  // so that it does not try again by itself
            }
            clock.advance(by: 1.5)
            try store(cache, 4)
            clock.advance(by: 0.5)
            try store(cache, 5)
            cache.writer.queue.resume()
            cache.flush()
            #expect(found(directory.cache()) == [2, 3, 5])
            #expect(found(cache) == [2, 3, 4, 5])
        }

        @Test("do not cost the generation where the process has no descriptors", arguments: [false, true])
        func shortage(isForWritingOnly: Bool) throws {
            try fill()
            let generation = try directory.generation
            let (writer, source) = (writer(), OneRemoval(url(1)))
            try (isForWritingOnly ? Refusal.openForWriting : .open).during(in: directory) {
                for isLast in [false, false, true] {
                    flush(writer, source, isLast: isLast)
                    time.withLock { $0 += 60_000_000_000 }
                }
            }
            #expect(!source.isWritten)
            // A full disk is another reason, which has lasted for no time.
            try Refusal.write.during(in: directory) { flush(writer, source) }
            #expect(source.lostDatabases == 0)
            flush(writer, source)
            #expect(try directory.generation == generation)
            #expect(found(directory.cache()) == [2, 3])
        }
    }
#endif
