import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

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
        cache.store(record, cached, keepsObject: true)
    }

    private func found(_ cache: ResponseCache, _ number: Int) -> Data? {
        cache.rows(of: "https://example.com/\(number)") { _ in true }.first?.body
    }

    // MARK: - Body files

    private func bodyFile(_ content: Data) throws -> (file: BodyFile, path: String) {
        try directory.files.prepare()
        let file = BodyFile(digest: content.withUnsafeBytes { Digest.of($0) }, length: content.count, number: 0)
        let path = file.path(in: directory.files)
        try #require(BodyFile.write(content, to: path))
        return (file, path)
    }

    /// Changes a byte in place, and makes the file look as old as before.
    private func flip(_ path: String, at offset: Int) throws {
        var status = stat()
        try #require(stat(path, &status) == 0)
        let file = open(path, O_RDWR)
        var byte: UInt8 = 0
        try #require(pread(file, &byte, 1, off_t(offset)) == 1)
        byte ^= 1
        try #require(pwrite(file, &byte, 1, off_t(offset)) == 1)
        close(file)
        var times = [
            timeval(tv_sec: status.st_atim.tv_sec, tv_usec: 0), timeval(tv_sec: status.st_mtim.tv_sec, tv_usec: 0),
        ]
        try #require(utimes(path, &times) == 0)
    }

    @Test("a body file that has passed its digest is believed until somebody touches it")
    func verifiedOnce() throws {
        let content = body(1, 300_000)
        let (file, path) = try bodyFile(content)
        let bodies = VerifiedBodies(now: { Date().addingTimeInterval(10) })
        #expect(!bodies.isVerified(file, in: directory.files))
        #expect(bodies.read(file, in: directory.files).data == content)
        #expect(bodies.isVerified(file, in: directory.files))
        #expect(bodies.read(file, in: directory.files).data == content)
        for offset in [0, 150_000, 299_999] {
            try flip(path, at: offset)
            #expect(!bodies.isVerified(file, in: directory.files))
            #expect(bodies.read(file, in: directory.files).isDamaged, "byte \(offset)")
            try flip(path, at: offset)
            #expect(bodies.read(file, in: directory.files).data == content)
        }
        try #require(truncate(path, 299_999) == 0)
        #expect(bodies.read(file, in: directory.files).data == nil)
    }

    @Test("a body file that was written a moment ago is digested each time: the next change could have the same time")
    func youngFiles() throws {
        let content = body(2, 70_000)
        let (file, _) = try bodyFile(content)
        let bodies = VerifiedBodies()
        #expect(bodies.read(file, in: directory.files).data == content)
        #expect(!bodies.isVerified(file, in: directory.files))
    }

    @Test("what memory has is not read again when somebody has changed the database")
    func knownBodies() throws {
        let clock = ManualClock()
        let cache = directory.cache(memory: 8 << 20, time: clock)
        try store(cache, 1, size: 100_000)
        cache.flush()
        #expect(found(cache, 1) == body(1, 100_000))
        try store(cache, 2, size: 100)
        cache.flush()
        try FileManager.default.removeItem(atPath: directory.files.bodies)
        clock.advance(by: 2)
        #expect(found(cache, 1) == body(1, 100_000))
        #expect(cache.state.withLock { $0.dropped.count } == 0)
    }

    // MARK: - What could not be read

    @Test("what was read before another process's change was noticed is not taken for what is stored after it")
    func readBeforeDoubt() throws {
        let clock = ManualClock()
        let (cache, other) = (directory.cache(memory: 8 << 20, time: clock), directory.cache())
        try store(other, 1, size: 100)
        other.flush()
        let old = cache.rows(of: url(1)) { _ in
            try? store(other, 1, size: 200)
            other.flush()
            cache.state.withLock { $0.memory.doubtAll() }  // as another thread that has noticed
            return true
        }
        #expect(old.map(\.bodySize) == [100])
        #expect(cache.rows(of: url(1)).map(\.bodySize) == [200])
    }

    @Test("a response that the disk did not take during a look-up stays in memory")
    func givenUpDuringLookUp() throws {
        let cache = directory.cache(memory: 8 << 20, time: ManualClock())
        try store(cache, 1, size: 100)
        cache.flush()
        let other = try Database(path: directory.database.path, busyTimeout: 0)
        try other.execute(Schema.begin)  // the writer waits
        let stored = Sample.stored(url(1), selecting: [("Accept", "b")])
        cache.store(StoredRecord(stored), try Sample.cached(url(1), Data([2])), keepsObject: false)
        let during = cache.rows(of: url(1)) { _ in
            cache.giveUpStores()
            return true
        }
        #expect(during.map(\.bodySize) == [1, 100])
        cache.state.withLock { $0.memory.doubtAll() }
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
        cache.store(StoredRecord(stored), cached, keepsObject: false)
        cache.close()
        let path = try directory.database.path
        #expect(rename(path, path + "-away") == 0)
        #expect(cache.rows(of: url(1)).map(\.bodySize) == [1])
        #expect(rename(path + "-away", path) == 0)
        #expect(cache.rows(of: url(1)).map(\.bodySize) == [1, 100])
    }

    @Test("a look-up outlasts what only lasts a moment", arguments: [false, true])
    func transientFailures(_ hasConnection: Bool) throws {
        let cache = directory.cache()
        try store(cache, 1, size: 100)
        cache.close()
        if hasConnection { #expect(found(cache, 1) != nil) }
        var failures = 0
        let count = cache.readDisk { connection in
            guard failures == 3 else {
                failures += 1
                throw SQLiteFailure(code: 5, message: "database is locked")
            }
            return try connection.entryCount()
        }
        #expect(count == 1)
    }

    // MARK: - Files that change under open connections

    /// Fills a cache and reads enough of it that its connections are in use, and the anchor with them.
    private func busyCache(_ count: Int = 200) throws -> ResponseCache {
        let cache = directory.cache()
        for number in 0..<count { try store(cache, number, size: 5000) }
        cache.flush()
        for round in 0..<5 { for number in 0..<count { #expect(found(cache, number) != nil, "round \(round)") } }
        return cache
    }

    @Test("shared memory that is cut off ends no look-up in a crash, and the next find all", arguments: [0, 4096])
    func shortSharedMemory(_ size: Int) throws {
        let cache = try busyCache()
        try #require(truncate(directory.database.sharedMemory, off_t(size)) == 0)
        for number in 0..<200 { #expect(found(cache, number) == body(number, 5000), "\(number)") }
    }

    #if os(Linux)
        @Test("what happens to a file that is watched is counted, and nothing else is")
        func fileEvents() throws {
            let (path, other) = (directory.url.path, directory.url.path + "-other")
            for path in [path, other] { try Data(count: 10_000).write(to: URL(fileURLWithPath: path)) }
            defer { unlink(other) }
            let file = open(path, O_RDWR | O_CLOEXEC)
            defer { close(file) }
            let events = FileEvents()
            guard events.watch(file) else {
                try Test.cancel("the user has no inotify instance left; the cache looks at the files instead")
            }
            let happenings: [(name: String, counts: Bool, happen: () -> Bool)] = [
                ("nothing", false, { true }), ("cut off", true, { truncate(path, 5000) == 0 }),
                ("read", false, { (try? Data(contentsOf: URL(fileURLWithPath: path)))?.count == 5000 }),
                ("another is cut off", false, { truncate(other, 0) == 0 }),
                ("written", true, { pwrite(file, "x", 1, 0) == 1 }), ("unlinked", true, { unlink(path) == 0 }),
            ]
            for (name, counts, happen) in happenings {
                let before = events.count
                try #require(happen(), "\(name)")
                #expect((events.count != before) == counts, "\(name)")
            }
        }
    #endif

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

    @Test("look-ups without a pause do not keep the log from being written into the database")
    func logWhileReading() throws {
        let cache = try busyCache()
        let other = directory.cache()
        let isDone = Locked(false)
        let reading = onThreads(2) { thread in
            while !isDone.withLock({ $0 }) {
                for number in 0..<100 {
                    #expect(found(cache, number * 2 + thread) == body(number * 2 + thread, 5000))
                }
            }
        }
        for number in 200..<1400 { try store(other, number, size: 20_000) }
        other.flush()
        let log = try #require(FileIdentity(directory.database.writeAheadLog))
        isDone.withLock { $0 = true }
        reading.wait()
        #expect(log.size < 16_000_000, "24 MB were written through it, and back into the database meanwhile")
    }
}

extension DiskBody {
    fileprivate var data: Data? {
        if case .whole(let data) = self { data } else { nil }
    }

    fileprivate var isDamaged: Bool {
        if case .damaged = self { true } else { false }
    }
}
