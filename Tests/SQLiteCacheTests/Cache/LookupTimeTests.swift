import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("When a lookup looks again, waits or takes a lock", .bounded)
struct LookupTimeTests {
    private let directory = TemporaryDirectory()
    private let url = "https://example.com/x"
    /// In nanoseconds.
    private let time = Locked<UInt64>(1_000_000_000)

    private func store(_ body: Data) throws {
        let cache = directory.cache()
        cache.store(StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, body), keepsObject: false)
        cache.close()
    }

    /// As if a writer were at work, so that lookups take locks.
    private func makeJournal() throws {
        let file = open(try directory.generation.journal, O_WRONLY | O_CREAT, 0o600)
        try #require(file >= 0)
        close(file)
    }

    @Test(
        "twice a second it notices a generation that was made while the old one is still there",
        arguments: [false, true])
    func newerGeneration(locks: Bool) throws {
        try directory.makeGeneration()
        if locks { try makeJournal() }
        try directory.settle()
        let reader = DiskReader(directory: directory.files, busyTimeout: .none) { [time] in time.withLock { $0 } }
        func number() -> UInt64? {
            guard case .answer(let found) = reader.read({ ($0.generation.number, $0.locks) }) else { return nil }
            return found.1 == locks ? found.0 : nil
        }
        #expect([number(), number()] == [1, 1])
        try Generation.make(after: directory.generation, in: directory.files)
        if locks { try makeJournal() }
        try directory.settle()
        time.withLock { $0 += 499_999_999 }
        #expect(number() == 1)
        time.withLock { $0 += 1 }
        #expect(number() == 2)
    }

    private func stamp(_ seconds: Int, _ nanoseconds: Int) -> FileStamp {
        var status = stat()
        let changed = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        #if canImport(Darwin)
            status.st_ctimespec = changed
        #else
            status.st_ctim = changed
        #endif
        return FileStamp(status)
    }

    @Test("a stamp of a time beyond the year 2262 traps nothing, and is not settled")
    func farFuture() {
        #expect(!stamp(9_300_000_000, 5).isSettled(at: FileStamp.now()))
    }

    @Test("a stamp must be 20 ms old, and one of full seconds two seconds")
    func stamps() {
        for (nanoseconds, age): (Int, Int64) in [(500_000_000, 20_000_000), (0, 2_000_000_000)] {
            let stamp = stamp(1_800_000_000, nanoseconds)
            #expect(!stamp.isSettled(at: stamp.changed + age))
            #expect(stamp.isSettled(at: stamp.changed + age + 1))
        }
    }

    @Test("right after a change it takes a lock")
    func recentChange() throws {
        try store(Data([1]))
        let generation = try directory.generation
        var connection: ReadConnection?
        var stamp: FileStamp
        repeat {  // until the machine is fast enough
            #expect(chmod(generation.database, 0o600) == 0)
            stamp = FileStamp(try #require(FileSystem.status(generation.database)))
            connection = try? ReadConnection(generation: generation, busyTimeout: .none, locks: false)
        } while stamp.isSettled(at: FileStamp.now())
        #expect(connection == nil)
        #expect(directory.cache().rows(of: url) { _ in true }.first?.body == Data([1]))
    }

    @Test("it takes a lock where another machine's clock may stamp files", arguments: [false, true])
    func networkFiles(isLocal: Bool) throws {
        try store(Data([1]))
        try directory.settle()
        let generation = try directory.generation
        let connect = {
            _ = try ReadConnection(generation: generation, busyTimeout: .none, locks: false) { _ in isLocal }
        }
        if isLocal { return try connect() }
        let failure = #expect(throws: SQLiteFailure.self) { try connect() }
        #expect(failure?.isBusy == true)
    }

    @Test(
        "a file over 256 KB is verified once a minute, a smaller one each time",
        arguments: [256 << 10, (256 << 10) + 1])
    func verification(size: Int) throws {
        let body = Sample.body(size, seed: 3)
        try store(body)
        let generation = try directory.generation
        let name = try #require(try FileSystem.names(in: generation.bodies.settled)?.first)
        let status = try #require(FileSystem.status(generation.bodies.settled + "/" + name))
        while !FileStamp(status).isSettled(at: FileStamp.now()) { sched_yield() }
        let verified = VerifiedFiles { [time] in time.withLock { $0 } }
        let (folder, id) = (try OpenDirectory(generation.path), try #require(Int64(name)))
        /// A wrong checksum is noticed only if the bytes are verified.
        func finds(_ checksum: UInt64) -> Bool {
            let expected = StoredBody(length: size, checksum: checksum)
            let result = BodyFiles.read(id, expecting: expected, in: folder, verified: verified)
            if case .complete(body) = result { return true } else { return false }
        }
        let checksum = body.withUnsafeBytes { Checksum64.of($0) }
        #expect(finds(checksum))
        time.withLock { $0 += 59_999_999_999 }
        #expect(finds(checksum ^ 1) == (size > 256 << 10))
        time.withLock { $0 += 1 }
        #expect(!finds(checksum ^ 1))
        // A caller may have mapped its hard link into memory. Then not each change gets a time.
        let path = generation.bodies.settled + "/" + name
        #expect(link(path, path + "-link") == 0)
        while !FileStamp(try #require(FileSystem.status(path))).isSettled(at: FileStamp.now()) { sched_yield() }
        #expect(finds(checksum))
        #expect(!finds(checksum ^ 1))
    }

    @Test("lookups wait two seconds for a lock, writers four, and then neither waits for two seconds")
    func waits() {
        let cache = directory.cache()
        #expect(cache.reader.busyTimeout.limit == 2_000_000_000)
        #expect(cache.writer.busyTimeout.limit == 4_000_000_000)
        for timeout in [cache.reader.busyTimeout, cache.writer.busyTimeout] { #expect(timeout.pause == 2_000_000_000) }
    }
}
