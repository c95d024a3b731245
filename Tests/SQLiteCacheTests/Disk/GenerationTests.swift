import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Generations of a cache, and what else is in its directory", .bounded)
struct GenerationTests {
    private let directory = TemporaryDirectory()

    private func store(_ cache: ResponseCache, _ url: String, size: Int = 1) throws {
        let cached = try Sample.cached(url, Sample.body(size, seed: 1))
        cache.store(StoredRecord(Sample.stored(url)), cached: cached, keepsObject: false)
    }

    @Test("files of users in the directory stay, whatever their names are")
    func usersFiles() throws {
        let names = [
            "Old-photos", "Old-2019", "Old-1-2019", "Old", "New-year", "New-1-0123456789abcdeg", "Cache-2",
            "Cache-00000000000000001", "Cache-+000000000000001", "Bodies", "Lock", "Set-aside.db",
        ]
        for name in names {
            try FileManager.default.createDirectory(
                at: directory.url.appendingPathComponent(name + "/folder"), withIntermediateDirectories: true)
        }
        #expect(chmod(directory.url.path, 0o700) == 0)
        let cache = directory.cache()
        try store(cache, "https://x/")
        cache.flush()
        cache.change(.removeAll)
        try store(cache, "https://x/")
        cache.close()
        try store(cache, "https://x/")
        cache.flush()
        directory.waitForRemovals()
        for name in names { #expect(FileSystem.status(directory.url.path + "/\(name)/folder") != nil, "\(name)") }
        #expect(!cache.rows(of: "https://x/").isEmpty)
    }

    @Test("an incomplete generation does not count, and one that a killed process left is removed")
    func draft() throws {
        try directory.files.prepare()
        let draft = directory.url.path + "/New-1-0123456789abcdef"
        try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: false)
        #expect(try Generation.newest(in: directory.files) == nil)
        let cache = directory.cache()
        try store(cache, "https://x/")
        cache.flush()
        #expect(try Generation.newest(in: directory.files) != nil)
        #expect(FileSystem.status(draft) == nil)
    }

    @Test(
        "drafts and removed generations of processes that have ended are deleted by the next transaction of any process"
    )
    func abandoned() throws {
        try directory.makeGeneration()
        let connection = try WriteConnection(
            directory: directory.files, generation: directory.generation, busyTimeout: .none)
        // No process has the number 99999999, and this process is making a generation.
        let names = [
            "New-99999999-0123456789abcdef", "Old-99999999-0123456789abcdef", "New-\(getpid())-0123456789abcdef",
        ]
        for name in names {
            try FileManager.default.createDirectory(
                atPath: directory.url.path + "/" + name + "/Bodies", withIntermediateDirectories: true)
        }
        try connection.transaction {}
        directory.waitForRemovals()
        #expect(try FileSystem.names(in: directory.url.path)?.sorted() == ["Cache-0000000000000001", names[2]])
    }

    @Test("the files of a generation that was replaced are deleted in the background")
    func backgroundRemoval() throws {
        let cache = directory.cache()
        for number in 0..<3 { try store(cache, "https://example.com/\(number)", size: 30_000) }
        cache.flush()
        let next = Generation(try directory.generation.number + 1, in: directory.files)
        FileSystem.removals.suspend()
        cache.change(.removeAll)
        cache.flush()
        let old = try FileSystem.names(in: directory.url.path)?.filter { $0.hasPrefix("Old-\(getpid())-") }
        let left = try FileSystem.names(in: directory.url.path + "/" + (old?.first ?? "") + "/Bodies")
        FileSystem.removals.resume()
        #expect(old?.count == 1 && left?.count == 3)
        directory.waitForRemovals()
        #expect(try FileSystem.names(in: directory.url.path)?.count == 1)
        #expect(try directory.generation == next)
    }

    @Test("the database of an older generation is deleted at once, before its body files")
    func olderDatabase() throws {
        try directory.makeGeneration()
        let older = try directory.generation
        try Data([1]).write(to: URL(fileURLWithPath: older.bodies.settledPath(1)))
        try Generation.make(after: older, in: directory.files)
        FileSystem.removals.suspend()
        try directory.generation.removeOthers(in: directory.files)
        let old = try FileSystem.names(in: directory.url.path)?.first { $0.hasPrefix("Old-") }
        let left = try FileSystem.names(in: directory.url.path + "/" + (old ?? ""))
        FileSystem.removals.resume()
        #expect(old != nil && left?.contains("Bodies") == true && left?.contains("Database") == false)
        directory.waitForRemovals()
    }

    @Test("a generation that has no predecessor, because the disk was full, gets another number than earlier ones")
    func newNumber() throws {
        try directory.files.prepare()
        let start = Date()
        var numbers: [UInt64] = []
        for second in 0..<3 {
            try Generation.make(after: nil, in: directory.files, at: start.addingTimeInterval(Double(second)))
            for _ in 0..<2 {
                numbers.append(try directory.generation.number)
                try Generation.make(after: directory.generation, in: directory.files)
            }
            numbers.append(try directory.generation.number)
            while let newest = try Generation.newest(in: directory.files) { newest.retire(from: directory.files) }
        }
        #expect(Set(numbers).count == 9)
    }

    @Test("if another process is faster to make a generation, its generation stays in use")
    func fasterProcess() throws {
        try directory.files.prepare()
        var faster: stat?
        try Generation.make(after: nil, in: directory.files) { draft in
            try Generation.make(after: nil, in: directory.files)
            faster = FileSystem.status(try directory.generation.database)
            try Database(path: draft.database, busyTimeout: .none).execute(Schema.create)
        }
        let found = try #require(FileSystem.status(directory.generation.database))
        #expect(faster.map { found.isSameFile(as: $0) } == true)
        directory.waitForRemovals()
        #expect(try FileSystem.names(in: directory.url.path)?.count == 1, "the draft is gone")
    }

    @Test(
        "a removal of everything also removes the copy that another process makes in between, even on a full disk",
        arguments: [false, true])
    func copyInBetween(_ isFull: Bool) throws {
        try directory.makeGeneration()
        let old = try directory.generation
        var hasCopied = false
        let isDone = try Generation.startAnew(in: directory.files) { draft in
            if !hasCopied {
                hasCopied = true
                try Generation.make(after: old, in: directory.files)
                old.retire(from: directory.files)
            }
            if isFull { throw SQLiteFailure.busy }
            try Database(path: draft.database, busyTimeout: .none).execute(Schema.create)
        }
        #expect(isDone)
        #expect(try Generation.newest(in: directory.files)?.number == (isFull ? nil : 3))
        directory.waitForRemovals()
        #expect(try FileSystem.names(in: directory.url.path)?.count == (isFull ? 0 : 1))
    }

    @Test("a connection whose generation was replaced changes nothing")
    func staleConnection() throws {
        try directory.makeGeneration()
        let stale = try WriteConnection(
            directory: directory.files, generation: directory.generation, busyTimeout: .none)
        try Generation.make(after: directory.generation, in: directory.files)
        #expect(throws: WriteConnection.Superseded.self) { try stale.transaction {} }
        stale.generation.retire(from: directory.files)
        #expect(throws: WriteConnection.Superseded.self) { try stale.transaction {} }
    }
}
