import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// Something that takes the place of a file or directory of a cache that is in use.
enum Obstacle: String, CaseIterable, Sendable {
    case nothing
    case directory
    case fifo
    case danglingLink
    case text

    func replace(_ path: String) throws {
        FileSystem.remove(path)
        switch self {
        case .nothing: break
        case .directory: try #require(mkdir(path, 0o700) == 0)
        case .fifo: try #require(mkfifo(path, 0o600) == 0)
        case .danglingLink: try #require(symlink("/nonexistent/place", path) == 0)
        case .text: try Data("not what it was".utf8).write(to: URL(fileURLWithPath: path))
        }
    }
}

@Suite("A cache whose files are attacked while it is in use", .bounded)
struct AttackTests {
    let directory = TemporaryDirectory()

    func url(_ number: Int) -> String { "https://example.com/\(number)" }

    func body(_ number: Int, _ size: Int) -> Data {
        StorageChurn.body(seed: 3, step: number, key: number, size: size)
    }

    func store(_ cache: ResponseCache, _ number: Int, size: Int = 3000) throws {
        let cached = try Sample.cached(url(number), body(number, size))
        cache.store(StoredRecord(Sample.stored(url(number))), cached: cached, keepsObject: false)
    }

    func found(_ cache: ResponseCache, _ number: Int) -> Data? {
        cache.rows(of: url(number)) { _ in true }.first?.body
    }

    /// Ten small entries, and ten with files.
    func filled(_ disk: Int = 64 << 20) throws -> ResponseCache {
        let cache = directory.cache(disk: disk)
        for number in 0..<20 { try store(cache, number, size: number < 10 ? 3000 : 40_000) }
        cache.flush()
        for number in 0..<20 { #expect(found(cache, number) != nil) }
        return cache
    }

    /// Changes the database as another process may.
    func execute(_ sql: String) throws {
        try directory.database().execute(sql)
    }

    func checkUse(_ cache: ResponseCache, _ comment: Comment) throws {
        try store(cache, 99, size: 40_000)
        cache.flush()
        #expect(found(cache, 99) == body(99, 40_000), comment)
        #expect(found(directory.cache(), 99) == body(99, 40_000), comment)
    }

    @Test("a store works at once, whatever takes the place of a file", arguments: Obstacle.allCases)
    func replaced(_ obstacle: Obstacle) throws {
        let paths: [(String, (Generation) -> String)] = [
            ("generation", { $0.path }), ("database", { $0.database }), ("journal", { $0.journal }),
            ("bodies", { $0.bodies.settled }), ("moving bodies", { $0.bodies.moving }),
            ("partial bodies", { $0.partials.folder }),
        ]
        let cache = try filled()
        for (name, path) in paths {
            try obstacle.replace(path(directory.generation))
            for number in 0..<20 {
                if let found = found(cache, number) { #expect(found == body(number, number < 10 ? 3000 : 40_000)) }
            }
            try checkUse(cache, "\(name): \(obstacle)")
            #expect(cache.makePartial(for: url(1), resumable: nil, length: 100) != nil, "\(name): \(obstacle)")
            for number in 0..<20 { try store(cache, number, size: number < 10 ? 3000 : 40_000) }
            cache.flush()
            for number in 0..<20 { #expect(found(cache, number) != nil, "\(name): \(obstacle), \(number)") }
        }
    }

    @Test("another file in the place of a body file costs only its entry", arguments: Obstacle.allCases)
    func replacedBody(_ obstacle: Obstacle) throws {
        let cache = try filled()
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory.bodies).first)
        try obstacle.replace(directory.bodies + "/" + name)
        #expect((0..<20).count { found(cache, $0) != nil } == 19)
        #expect(cache.state.withLock { $0.corrupt.count } == 1)
        try checkUse(cache, "\(obstacle)")
    }

    @Test("a header that asks for a write-ahead log has no memory shared, and the database is replaced")
    func writeAheadLog() throws {
        let cache = try filled()
        cache.close()
        let path = try directory.generation.database
        try damageFile(at: path) { ($0[18], $0[19]) = (2, 2) }
        #expect(found(cache, 1) == nil)
        try checkUse(cache, "a write-ahead log")
        #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
    }

    @Test("no connection maps anything, nor keeps a write-ahead log")
    func unmapped() throws {
        try directory.makeGeneration()
        let database = try directory.database()
        try database.execute("PRAGMA mmap_size = 1000000")
        #expect(try database.texts("PRAGMA journal_mode = WAL") == ["delete"])
        #expect(try truncate(directory.generation.database, 5000) == 0)
        #expect(throws: SQLiteFailure.self) { try database.execute("SELECT * FROM bodies; SELECT * FROM entries") }
    }

    @Test(
        "a row whose length is damaged costs no other entry",
        arguments: ["length + (1 << 46)", "9223372036854775807", "-5", "length | (1 << 24)"])
    func implausibleLength(_ length: String) throws {
        let cache = try filled(2 << 20)
        try execute(
            "UPDATE entries SET length = \(length) WHERE id = (SELECT id FROM entries ORDER BY id DESC LIMIT 1)")
        try store(cache, 50)
        cache.flush()
        #expect((0..<19).allSatisfy { found(cache, $0) != nil })
        #expect(found(cache, 19) == nil)
        cache.flush()
        cache.close()
        #expect(found(cache, 50) != nil)
        #expect(cache.state.withLock { $0.counts.evictions } == 0)
    }

    @Test("an entry whose length is damaged goes with its body, wherever that is")
    func damagedLength() throws {
        let cache = try filled()
        try execute("UPDATE entries SET length = 5")
        for number in 0..<20 { #expect(found(cache, number) == nil) }
        cache.flush()
        #expect(try directory.database().integer("SELECT count(*) FROM bodies") == 0)
        #expect(try FileSystem.names(in: directory.bodies) == [])
    }

    @Test("nothing is removed through a link in the place of a directory")
    func links() throws {
        let cache = try filled()
        let other = directory.url.path + "-other"
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        defer { FileSystem.remove(other) }
        try Data([1]).write(to: URL(fileURLWithPath: other + "/mine"))
        let generation = try directory.generation
        for path in [generation.bodies.moving, generation.bodies.settled, generation.partials.folder] {
            FileSystem.remove(path)
            try #require(symlink(other, path) == 0)
            try checkUse(cache, "\(path)")
            cache.close()
            try checkUse(cache, "\(path)")
            #expect(cache.makePartial(for: url(1), resumable: nil, length: 100) != nil)
            #expect(FileSystem.status(other + "/mine") != nil)
        }
    }

    @Test("a link in the place of a generation changes no mode, and removes nothing")
    func linkedGeneration() throws {
        let cache = try filled()
        let other = DisposableDirectory("other")
        try #require(mkdir(other.url.path, 0o755) == 0)
        let file = other.url.path + "/Database"
        try Data([1]).write(to: URL(fileURLWithPath: file))
        try #require(chmod(file, 0o644) == 0 && chmod(other.url.path, 0o755) == 0)
        let path = try directory.generation.path
        FileSystem.remove(path)
        try #require(symlink(other.url.path, path) == 0)
        #expect(found(cache, 1) == nil)
        try checkUse(cache, "a linked generation")
        directory.waitForRemovals()
        #expect(FileSystem.status(file)?.st_mode == S_IFREG | 0o644)
        #expect(FileSystem.status(other.url.path)?.st_mode == S_IFDIR | 0o755)
    }

    @Test(
        "triggers of another process make no writer loop",
        arguments: ["BEFORE INSERT ON entries", "BEFORE DELETE ON entries", "BEFORE UPDATE ON usage"])
    func triggers(_ event: String) throws {
        let cache = try filled(1 << 20)
        try execute("CREATE TRIGGER attack \(event) BEGIN SELECT raise(ignore); END")
        cache.change(.removeURL(url(5), urlKey: Checksum64.of(url(5))))
        for number in 100..<140 { try store(cache, number, size: 40_000) }
        cache.flush()
        #expect(found(cache, 5) == nil)
        try checkUse(cache, "\(event)")
    }

    @Test("files that a killed process left among the moving bodies are removed by the next store of another process")
    func movingBodies() throws {
        let cache = try filled()
        let bodies = try directory.generation.bodies
        let orphan = bodies.movingPath(7)
        try Data(count: 100_000).write(to: URL(fileURLWithPath: orphan))
        // One whose entry is committed is settled.
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: bodies.settled).first)
        try #require(rename(bodies.settled + "/" + name, bodies.moving + "/" + name) == 0)
        #expect((0..<20).allSatisfy { found(cache, $0) != nil })
        try store(cache, 50)
        cache.flush()
        #expect(try FileSystem.names(in: bodies.moving) == [])
        #expect((0..<20).allSatisfy { found(cache, $0) != nil })
    }

    @Test("a file that another process settles late goes with its entry")
    func lateSettling() throws {
        try directory.makeGeneration()
        let bodies = try directory.generation.bodies
        try bodies.write(Data([1]), id: 7)
        bodies.settle(7)
        #expect(bodies.moveAway(7) == 1)  // the entry is evicted
        bodies.settle(7)  // by the process that has stored it
        bodies.discard(7)
        #expect(try FileSystem.names(in: bodies.settled) == [])
        #expect(try FileSystem.names(in: bodies.moving) == [])
    }

    @Test("removing everything makes a new database, which a cache that has the old one open sees at once")
    func removingAll() throws {
        let cache = try filled()
        let other = directory.cache()
        #expect(found(other, 1) != nil)
        let before = try directory.generation
        cache.change(.removeAll)
        cache.flush()
        #expect(try directory.generation.number == before.number + 1)
        #expect(FileSystem.status(before.path) == nil)
        #expect(found(other, 1) == nil)
        try store(other, 2)
        other.flush()
        #expect(found(cache, 2) != nil)
    }

    @Test("two caches that fill a directory at once stay within its capacity")
    func sharedCapacity() throws {
        let capacity = 3 << 20
        let caches = [directory.cache(disk: capacity), directory.cache(disk: capacity)]
        let largest = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            for number in 0..<120 {
                try? store(caches[index], number * 2 + index, size: [300, 3000, 16_000, 60_000][number % 4])
                let used = (try? directory.allocatedBytes()) ?? 0
                largest.withLock { $0 = max($0, used) }
            }
            caches[index].flush()
        }
        #expect(largest.withLock { $0 } <= capacity * 11 / 10)
        #expect(try directory.allocatedBytes() > capacity / 2)
    }

    @Test("directories are closed to others from the first moment on", .enabled(if: ChildProcess.isAvailable))
    func umask() throws {
        let child = try ChildProcess("nested", directory, shell: "umask 0")
        child.expectSuccess()
        for name in ["", "/above", "/above/cache"] {
            #expect(FileSystem.status(directory.url.path + name)?.st_mode == S_IFDIR | 0o700, "\(name)")
        }
    }

    #if os(Linux)  // a forked process on macOS must not use Foundation before it runs a program
        @Test(
            "in a forked process the cache refuses all calls, and the process ends",
            .disabled(if: Sanitizers.areOn, "they need threads of their own"))
        func forks() throws {
            try ChildProcess("forks", directory).expectSuccess()
        }
    #endif

    @Test(
        "no descriptors and no memory are a miss, and cost no entry", .enabled(if: ChildProcess.isAvailable),
        .disabled(if: Sanitizers.areOn, "they take both for themselves"))
    func shortages() throws {
        try ChildProcess("short-lookups", directory).expectSuccess()
    }
}
