import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Lookups without a lock", .bounded)
struct LockFreeTests {
    private let directory = TemporaryDirectory()
    private let url = "https://example.com/x"

    private func store(_ cache: ResponseCache, _ body: Data) throws {
        cache.store(StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, body), keepsObject: false)
        cache.flush()
        try directory.settle()
    }

    private func rows(_ connection: ReadConnection, wanting: @escaping (StoredRow) -> Bool = { _ in true }) throws
        -> [Data?]
    {
        try connection.rows(
            of: url, urlKey: Checksum64.of(url), wanting: wanting, hasBody: { _ in false }, endsThere: false
        ).rows.map(\.body)
    }

    private func lockFreeConnection() throws -> ReadConnection {
        try ReadConnection(generation: directory.generation, busyTimeout: .none, locks: false)
    }

    private func execute(_ sql: String) throws {
        try directory.database().execute(sql)
    }

    @Test(
        "a lookup holds up no writer, and looks again if a writer has changed the database during it",
        arguments: [500, 5000])
    func changeDuringLookup(_ size: Int) throws {
        let cache = directory.cache()
        try store(cache, Data(count: size))
        var lookups = 0
        let found = cache.rows(of: url) { _ in
            lookups += 1
            if lookups == 1 { #expect(throws: Never.self) { try execute("DELETE FROM entries; DELETE FROM bodies") } }
            return true
        }
        #expect(found.isEmpty && lookups == 1)
        try store(cache, Data(count: size))
        let connection = try lockFreeConnection()
        #expect(throws: SQLiteFailure.self) {
            _ = try rows(connection) { _ in
                try? execute("UPDATE entries SET used = used + 1")
                return true
            }
        }
        #expect(cache.state.withLock { $0.corrupt.count } == 0)
    }

    @Test("while a writer has a journal, a lookup takes a lock, and finds what was committed")
    func journal() throws {
        let cache = directory.cache()
        try store(cache, Data([1]))
        let connection = try lockFreeConnection()
        #expect(try rows(connection) == [Data([1])])
        let writer = try directory.database()
        try writer.execute("BEGIN IMMEDIATE; DELETE FROM entries")
        let failure = #expect(throws: SQLiteFailure.self) { _ = try rows(connection) }
        #expect(failure?.isBusy == true)
        #expect(cache.rows(of: url) { _ in true }.first?.body == Data([1]))
        try writer.execute("COMMIT")
        try directory.settle()
        #expect(try rows(connection).isEmpty)
        #expect(cache.rows(of: url).isEmpty)
    }

    @Test("a connection without locks sees at once that its database was removed, replaced, or cut off")
    func replacedFiles() throws {
        try store(directory.cache(), Data([1]))
        let changes: [(String) throws -> Void] = [
            { #expect(truncate($0, 30) == 0) }, { #expect(rename($0, $0 + "-away") == 0) },
            { try Data(count: 8192).write(to: URL(fileURLWithPath: $0)) },
        ]
        for change in changes {
            let connection = try lockFreeConnection()
            let path = try directory.generation.database
            let kept = try Data(contentsOf: URL(fileURLWithPath: path))
            try change(path)
            if FileSystem.status(path) != nil { try directory.settle() }
            let failure = #expect(throws: SQLiteFailure.self) { _ = try rows(connection) }
            #expect(failure?.isBusy == false)
            try kept.write(to: URL(fileURLWithPath: path))
            #expect(chmod(path, 0o600) == 0)
            try directory.settle()
        }
        let connection = try lockFreeConnection()
        #expect(try directory.generation.retire(from: directory.files))
        #expect(throws: SQLiteFailure.self) { _ = try rows(connection) }
    }

    @Test("a writer without a journal of its own shows one while it changes anything")
    func announcedChanges() throws {
        try store(directory.cache(), Data([1]))
        let generation = try directory.generation
        let connection = try lockFreeConnection()
        let writer = try WriteConnection(
            directory: directory.files, generation: generation, busyTimeout: .none, hasJournal: false)
        try writer.transaction {
            let failure = #expect(throws: SQLiteFailure.self) { _ = try rows(connection) }
            #expect(failure?.isBusy == true)
        }
        #expect(FileSystem.status(generation.journal) != nil, "the next writer may have begun to use it")
        #expect(directory.cache().rows(of: url) { _ in true }.first?.body == Data([1]))
        try store(directory.cache(), Data([2]))
        #expect(FileSystem.status(generation.journal) == nil)
        #expect(try rows(connection) == [Data([2])])
    }

    @Test("lookups take locks where another clock may stamp files")
    func otherClocks() throws {
        try directory.makeGeneration()
        let stampsFiles = { (path: String) in
            let folder = try OpenDirectory(path)
            return withExtendedLifetime(folder) { FileClock.stampsFiles(of: folder.descriptor) }
        }
        #expect(try stampsFiles(directory.url.path))
        #if !canImport(Darwin)
            #expect(try !stampsFiles("/proc"))
        #endif
    }

    @Test("a large body that was verified a moment ago is verified again once its file was touched")
    func verifiedFiles() throws {
        let body = Sample.body(600_000, seed: 3)
        try store(directory.cache(), body)
        let generation = try directory.generation
        let folder = try OpenDirectory(generation.path)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: generation.bodies.settled).first)
        let id = try #require(Int64(name))
        let expected = StoredBody(length: body.count, checksum: body.withUnsafeBytes { Checksum64.of($0) })
        let file = open(generation.bodies.settledPath(id), O_RDWR)
        defer { close(file) }
        let stamp = try #require(FileStamp(file))
        for isSettled in [false, true] {
            let verified = VerifiedFiles()
            verified.insert(id, stamp: stamp, at: stamp.changed + (isSettled ? 3_000_000_000 : 0))
            #expect(verified.contains(id, stamp: stamp) == isSettled)
        }
        while !stamp.isSettled(at: FileStamp.now()) { sched_yield() }
        let verified = VerifiedFiles()
        for _ in 0..<2 {
            guard case .complete(body) = BodyFiles.read(id, expecting: expected, in: folder, verified: verified)
            else { return #expect(Bool(false), "it is intact") }
            #expect(verified.contains(id, stamp: stamp))
        }
        #expect(pwrite(file, [body[500_000] ^ 1], 1, 500_000) == 1)
        guard case .corrupt = BodyFiles.read(id, expecting: expected, in: folder, verified: verified)
        else { return #expect(Bool(false), "a bit has changed") }
    }
}
