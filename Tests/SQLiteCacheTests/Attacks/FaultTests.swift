import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("The cache on damaged files", .bounded)
struct DamageTests {
    @Test(
        "flipped bits in the database give the right answer or none",
        arguments: UInt64(0)..<UInt64(Soak.count(8, inSoak: 40)))
    func flippedBits(_ seed: UInt64) throws {
        let victim = try Victim()
        var random = SeededGenerator(seed: seed)
        try damageFile(at: victim.directory.generation.database) { data in
            for _ in 0..<(seed % 4 == 0 ? 200 : 1 + Int(seed % 3)) {
                // Some near the start, where the structure is.
                let range = seed % 2 == 0 ? data.count : min(data.count, 16_384)
                data[Int.random(in: 0..<range, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
        }
        let cache = victim.directory.cache()
        Victim.check(cache)
        try Victim.checkUse(cache)
        cache.flush()
        Victim.check(cache)
        try Victim.fill(cache, closing: false)
        #expect(Victim.check(cache) > 0)
    }

    @Test(
        "flipped bits in the journal of a killed writer give the right answer or none",
        .enabled(if: ChildProcess.isAvailable),
        arguments: UInt64(0)..<UInt64(Soak.count(6, inSoak: 20)))
    func flippedJournal(_ seed: UInt64) throws {
        let source = TemporaryDirectory()
        let open = source.cache()
        try Victim.fill(open, closing: false)
        // A writer whose changes are partly in the file. A process that is killed then leaves the same.
        let writer = try source.database()
        try writer.execute("PRAGMA cache_size = 4; PRAGMA synchronous = OFF; BEGIN IMMEDIATE")
        try writer.execute("UPDATE bodies SET data = zeroblob(length(data)); DELETE FROM entries WHERE id % 3 = 0")
        let copy = TemporaryDirectory()
        try ChildProcess.run("/bin/cp", ["-Rp", source.url.path, copy.url.path])
        try writer.execute("ROLLBACK")
        var random = SeededGenerator(seed: seed)
        try damageFile(at: copy.generation.journal) { data in
            #expect(data.count > 50_000)
            if seed > 0 { data[Int.random(in: 0..<data.count, using: &random)] ^= 16 }
            if seed % 3 == 2 { data = data.prefix(Int.random(in: 0..<data.count, using: &random)) }
        }
        let cache = copy.cache()
        let found = Victim.check(cache)
        if seed == 0 { #expect(found == Victim.keys) }
        try Victim.checkUse(cache)
    }

    @Test("damaged, cut off and missing body files are dropped, and counted")
    func bodyFiles() throws {
        let victim = try Victim()
        let files = victim.bodyFiles
        #expect(files.count == 15)
        try damageFile(at: files[0]) { $0[$0.count / 2] ^= 1 }
        try damageFile(at: files[1]) { $0.removeLast() }
        try damageFile(at: files[2]) { $0.removeAll() }
        try damageFile(at: files[3]) { $0.append(0) }
        try FileManager.default.removeItem(atPath: files[4])
        try FileManager.default.removeItem(atPath: files[5])
        try FileManager.default.createDirectory(atPath: files[5], withIntermediateDirectories: false)
        let cache = victim.directory.cache()
        #expect(Victim.check(cache) == Victim.keys - 6)
        #expect(cache.state.withLock { $0.corrupt.count } == 6)
        #expect(Victim.check(cache) == Victim.keys - 6)
        #expect(cache.state.withLock { $0.corrupt.count } == 6)
        cache.flush()
        #expect(Victim.check(victim.directory.cache()) == Victim.keys - 6)
    }

    @Test("a truncated database gives the right answer or none", arguments: [0, 1, 100, 4096, 5000, 40_960, 200_000])
    func truncated(_ size: Int) throws {
        let victim = try Victim()
        try damageFile(at: victim.directory.generation.database) { $0 = $0.prefix(size) }
        let cache = victim.directory.cache()
        Victim.check(cache)
        try Victim.checkUse(cache)
        cache.flush()
        try Victim.fill(cache, closing: false)
        #expect(Victim.check(cache) > 0)
    }

    @Test("a database that is cut off while it is in use does not end the process")
    func truncatedWhileOpen() throws {
        let victim = try Victim()
        let cache = victim.directory.cache()
        #expect(Victim.check(cache) == Victim.keys)
        #expect(try truncate(victim.directory.generation.database, 8192) == 0)
        Victim.check(cache)
        try Victim.checkUse(cache)
    }

    @Test(
        "a database that is cut off under the writer does not end the process", arguments: [0, 1, 4096, 8192, 40_960])
    func truncatedWhileWriting(_ size: Int) throws {
        let victim = try Victim()
        let cache = victim.directory.cache()
        try Victim.fill(cache, closing: false)
        #expect(try truncate(victim.directory.generation.database, off_t(size)) == 0)
        try Victim.fill(cache, closing: false)
        Victim.check(cache)
        try Victim.fill(cache, closing: false)
        #expect(Victim.check(cache) == Victim.keys)
        try Victim.checkUse(cache)
    }

    @Test("the next store finds a database that works, whichever bit of its header is flipped", arguments: 0..<10)
    func flippedHeader(_ part: Int) throws {
        let victim = try Victim()
        let path = try victim.directory.generation.database
        let intact = try Data(contentsOf: URL(fileURLWithPath: path))
        // A tenth of the bits; in a soak, all bits.
        for bit in stride(from: part * 80, to: part * 80 + 80, by: Soak.count(10, inSoak: 1)) {
            let directory = TemporaryDirectory()
            try directory.makeGeneration()
            var flipped = intact
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            try flipped.write(to: URL(fileURLWithPath: directory.generation.database))
            let reports = Reports()
            let cache = directory.cache(report: reports)
            Victim.check(cache)
            try Victim.checkUse(cache)
            cache.flush()
            let other = directory.cache()
            try Victim.checkUse(other)
            other.flush()
            let found = directory.cache().rows(of: "https://example.com/after") { _ in true }
            #expect(found.first?.body == Data([1, 2]), "byte \(bit / 8), bit \(bit % 8): \(reports.lines)")
            #expect(!reports.lines.contains { $0.contains("uses only memory") }, "byte \(bit / 8): \(reports.lines)")
        }
    }

    @Test("a foreign, a newer and an older database are replaced, with one line", arguments: 0..<4)
    func foreign(_ kind: Int) throws {
        let victim = try Victim()
        let path = try victim.directory.generation.database
        switch kind {
        case 0: try Data("no database at all, but long enough to look at".utf8).write(to: URL(fileURLWithPath: path))
        case 1: try Database(path: path, busyTimeout: BusyTimeout(seconds: 60)).execute("PRAGMA user_version = 99")
        case 2: try Database(path: path, busyTimeout: BusyTimeout(seconds: 60)).execute("PRAGMA user_version = 0")
        default: try Database(path: path, busyTimeout: BusyTimeout(seconds: 60)).execute("PRAGMA application_id = 7")
        }
        let reports = Reports()
        let cache = victim.directory.cache(report: reports)
        #expect(Victim.check(cache) == 0)
        try Victim.checkUse(cache)
        cache.flush()
        #expect(reports.lines.count == 1)
        #expect(reports.lines.first?.contains("replaced") == true)
        victim.directory.waitForRemovals()
        #expect(try FileManager.default.contentsOfDirectory(atPath: victim.directory.url.path).count == 1)
        try Victim.fill(cache, closing: false)
        #expect(Victim.check(victim.directory.cache()) == Victim.keys)
    }

    @Test(
        "rows that were changed behind the cache's back are dropped",
        arguments: [
            "UPDATE entries SET record = (SELECT record FROM entries ORDER BY id LIMIT 1)",
            "UPDATE entries SET url_key = url_key + 1, body_checksum = 5", "UPDATE entries SET length = -1",
            "UPDATE entries SET length = 9223372036854775807",
            "UPDATE usage SET files = 9223372036854775807", "UPDATE usage SET files = -1, checksum = 7",
            "DELETE FROM usage",
            "UPDATE entries SET body_checksum = body_checksum + 1", "UPDATE bodies SET data = 'text'",
            "DELETE FROM bodies",
            "UPDATE entries SET record = x''", "UPDATE entries SET row_checksum = 'x', stored = 'y', id = -id",
            "UPDATE entries SET record = zeroblob(100000)", "UPDATE bodies SET data = zeroblob(length(data))",
            "UPDATE entries SET body = NULL", "UPDATE entries SET body = 'text'",
            "UPDATE entries SET body = zeroblob(length) WHERE length <= 1024",
            "UPDATE entries SET used = -9223372036854775807",
        ])
    func changedRows(_ sql: String) throws {
        let victim = try Victim()
        try victim.directory.database().execute(sql)
        let cache = victim.directory.cache(disk: 1 << 20)
        Victim.check(cache)
        try Victim.checkUse(cache)
        cache.flush()
        Victim.check(cache)
        try Victim.fill(cache, closing: false)
        #expect(Victim.check(cache) > 0)
    }

    @Test("files without an entry are removed")
    func strayFiles() throws {
        let victim = try Victim()
        let bodies = try victim.directory.generation.bodies
        let strays = [bodies.settledPath(7), bodies.settled + "/x", bodies.movingPath(8), bodies.moving + "/y"]
        for path in strays { try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path)) }
        let old = victim.directory.url.path + "/Old-1-0123456789abcdef"
        try FileManager.default.createDirectory(atPath: old + "/x", withIntermediateDirectories: true)
        let cache = victim.directory.cache()
        cache.flush()
        victim.directory.waitForRemovals()
        for path in strays + [old] { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
        #expect(Victim.check(cache) == Victim.keys)
    }

    @Test("opening a cache looks at each body file only if some may have no entry, or may be missing")
    func opening() throws {
        let victim = try Victim()
        let bodies = try victim.directory.generation.bodies
        let stray = bodies.settledPath(7)
        func isThere() -> Bool { FileSystem.status(stray) != nil }
        for (comment, damage) in [
            ("nothing", {}),
            ("a file of a killed process", { try Data().write(to: URL(fileURLWithPath: bodies.movingPath(8))) }),
            (
                "no number",
                { try victim.directory.database().execute("DELETE FROM usage; INSERT INTO usage VALUES (1, 1)") }
            ),
        ] as [(Comment, () throws -> Void)] {
            try Data([1]).write(to: URL(fileURLWithPath: stray))
            try damage()
            let cache = victim.directory.cache()
            cache.flush()
            #expect(isThere() == (comment == "nothing"), comment)
            #expect(Victim.check(cache) == Victim.keys)
        }
    }

    /// Stores an entry with a body file, and returns its URL.
    @discardableResult
    private func storeLarge(in cache: ResponseCache) throws -> String {
        let url = "https://example.com/large"
        cache.store(
            StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, Data(count: 100_000)), keepsObject: false)
        return url
    }

    /// The bytes of all body files on the disk.
    private func actualBytes(_ victim: Victim) -> Int64 {
        victim.bodyFiles.reduce(0) { $0 + FileSystem.nominalBytes($1) }
    }

    /// A destination of a download may be a hard link to a body file.
    @Test("the number of bytes in body files stays right if the app has edited a file", arguments: [0, 30_000_000])
    func editedFile(length: Int) throws {
        let victim = try Victim()
        let cache = victim.directory.cache()
        #expect(truncate(victim.bodyFiles[3], off_t(length)) == 0)
        #expect(Victim.check(cache) == Victim.keys - 1)  // the entry is removed
        cache.flush()
        try storeLarge(in: cache)
        cache.flush()
        #expect(cache.readDisk { try $0.bodyFileBytes() } == actualBytes(victim))
    }

    @Test("the number of bytes in body files stays right if a file is missing, or a pending store is removed")
    func fileBytes() throws {
        let victim = try Victim()
        let cache = victim.directory.cache()
        func counted() -> Int64? { cache.readDisk { try $0.bodyFileBytes() } }
        try FileManager.default.removeItem(atPath: victim.bodyFiles[3])
        #expect(Victim.check(cache) == Victim.keys - 1)
        cache.flush()
        #expect(counted() == actualBytes(victim))
        cache.writer.suspend()
        let url = try storeLarge(in: cache)
        cache.change(.removeURL(url, urlKey: Checksum64.of(url)))
        cache.writer.queue.resume()
        cache.flush()
        #expect(counted() == actualBytes(victim))
    }
}
