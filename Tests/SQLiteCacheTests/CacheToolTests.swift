import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Scripts/cache", .bounded, .enabled(if: ChildProcess.isAvailable))
struct CacheToolTests {
    private static let day: TimeInterval = 86_400
    private let directory = TemporaryDirectory()
    /// The tool looks at the clock of the system: what it prints is in days, and these are days and a half.
    private let now = Date()

    private func run(_ options: String...) throws -> (lines: [String], status: Int32) {
        let tool = try ChildProcess(program: "synchronizer-cache", [directory.url.path] + options)
        let lines = tool.rest()
        return (lines, tool.status)
    }

    private func fill() throws {
        let clock = ManualClock(now - 5.5 * Self.day)
        let cache = directory.cache(time: clock)
        func store(_ path: String, _ size: Int, _ control: String?, _ selecting: [(String, String)] = []) throws {
            let url = "https://example.com/\(path)"
            let fields = control.map { [("Cache-Control", $0)] } ?? []
            let response = Sample.stored(url, fields, selecting: selecting, at: clock.now)
            cache.store(
                StoredRecord(response), cached: try Sample.cached(url, Sample.body(size, seed: UInt64(size))),
                keepsObject: false)
        }
        try store("feed.json?page=2", 1234, "max-age=\(Int(10 * Self.day))", [("Accept", "application/json")])
        clock.advance(by: 3 * Self.day)
        try store("photo.jpg", 90_000, "max-age=60")
        try store("plain", 12, nil)
        cache.close()
    }

    @Test("it lists URL, variant, age, remaining lifetime, size and last use in columns, the last used first")
    func list() throws {
        try fill()
        let (lines, status) = try run()
        #expect(status == 0)
        #expect(
            Set(lines.dropFirst().prefix(2)) == [
                "90.0 kB  2 d        stale       2 d  -                         https://example.com/photo.jpg",
                "   12 B  2 d  no lifetime       2 d  -                         https://example.com/plain",
            ])
        #expect(lines.first == "   SIZE  AGE    FRESH FOR  LAST USE  VARIANT                   URL")
        #expect(
            lines.dropFirst(3).first
                == " 1.2 kB  5 d          4 d       5 d  Accept: application/json  https://example.com/feed.json?page=2"
        )
        #expect(lines.last == "3 responses, 91.2 kB of bodies.")
        #expect(lines.count == 5)
    }

    @Test("--verify exits with 0 if nothing is corrupt")
    func whole() throws {
        try fill()
        let (lines, status) = try run("--verify")
        #expect(lines == ["✔ Nothing is corrupt: 3 responses, 91.2 kB of bodies."])
        #expect(status == 0)
    }

    @Test(
        "--verify exits with 1 and says what is damaged, and leaves it as it was",
        arguments: [
            (
                "UPDATE entries SET body = zeroblob(length) WHERE length = 12",
                "The body of https://example.com/plain"
            ),
            ("UPDATE entries SET row_checksum = row_checksum + 1 WHERE length = 12", "Rows that fail their check: 1"),
            ("", "The body of https://example.com/photo.jpg"),
        ])
    func damaged(_ sql: String, _ finding: String) throws {
        try fill()
        if sql.isEmpty {
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: directory.bodies).first)
            let path = URL(fileURLWithPath: directory.bodies + "/" + name)
            var body = try Data(contentsOf: path)
            body[50_000] ^= 1
            try body.write(to: path)
        } else {
            try directory.database().execute(sql)
        }
        for _ in 0..<2 {
            let (lines, status) = try run("--verify")
            #expect(lines.first?.hasPrefix("✘ " + finding) == true, "\(lines)")
            #expect(lines.count == 2)
            #expect(status == 1)
        }
    }

    @Test("--purge removes everything, also from under a cache that is in use")
    func purge() throws {
        try fill()
        let inUse = directory.urlCache(disk: 8 << 20)
        #expect(inUse.entries(for: "https://example.com/plain").count == 1)
        let (lines, status) = try run("--purge")
        #expect(lines == ["Removed 3 responses, 91.2 kB of bodies."])
        #expect(status == 0)
        #expect(inUse.entries(for: "https://example.com/plain").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.bodies).isEmpty)
        #expect(try run().lines == ["0 responses, 0 B of bodies."])
    }

    @Test("--purge exits when all body files are deleted, also those that an interrupted --purge has left")
    func purgedFiles() throws {
        try fill()
        for number in 1...400 {
            try Data(count: 100).write(to: URL(fileURLWithPath: "\(directory.bodies)/\(1 << 40 + number)"))
        }
        let left = directory.url.appendingPathComponent("Old-99999999-0123456789abcdef")
        try FileManager.default.copyItem(at: URL(fileURLWithPath: directory.generation.path), to: left)
        #expect(try run("--purge").status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(names.filter { $0.hasPrefix("Old-") }.isEmpty)
    }

    @Test("a corrupt cache is listed as far as it can be read, and removed", arguments: [0, 4096])
    func corrupt(from start: Int) throws {
        try fill()
        try damageFile(at: directory.generation.database) { data in
            for index in start..<data.count { data[index] = 0xff }
        }
        let (lines, status) = try run()
        #expect(status == (start == 0 ? 2 : 0))
        #expect(start == 0 || lines.last?.hasPrefix("The rest can't be read: ") == true, "\(lines)")
        #expect(try run("--verify").status == 1)
        let purge = try run("--purge")
        #expect(purge.lines == ["Removed a corrupt cache."])
        #expect(purge.status == 0)
        #expect(try run().lines == ["0 responses, 0 B of bodies."])
    }

    @Test(
        "--verify exits with 1 if the database can't be opened, also in a folder below",
        arguments: [Data(), Data(count: 40_000), Data("no database".utf8), nil])
    func unusable(_ content: Data?) throws {
        let folder = directory.url.appendingPathComponent("program", isDirectory: true)
        let cache = SQLiteURLCache(memoryCapacity: 0, diskCapacity: 8 << 20, directory: folder)
        cache.storeCachedResponse(
            try Sample.cached("https://example.com/", Data([1])), for: try Sample.request("https://example.com/"))
        cache.close()
        let database = try #require(try Generation.newest(in: CacheDirectory(folder))).database
        if let content {
            try content.write(to: URL(fileURLWithPath: database))
        } else {
            try Database(path: database, busyTimeout: .none).execute("DROP TABLE entries")
        }
        let (lines, status) = try run("--verify")
        #expect(lines.count == 1 && lines[0].hasPrefix("✘ The cache in "), "\(lines)")
        #expect(status == 1)
    }

    @Test("the cache is found in the directory that the initialiser was given, and in a folder above it")
    func found() throws {
        let cache = directory.url.appendingPathComponent("a program/SQLiteURLCache", isDirectory: true)
        for number in 1...2 {
            let opened = SQLiteURLCache(
                memoryCapacity: 0, diskCapacity: 8 << 20, directory: number == 1 ? cache : directory.url)
            let url = "https://example.com/\(number)"
            opened.storeCachedResponse(try Sample.cached(url, Data([1])), for: try Sample.request(url))
            opened.flush()
            for directory in [cache, cache.deletingLastPathComponent(), directory.url] {
                let tool = try ChildProcess(program: "synchronizer-cache", [directory.path])
                let expected = number == 2 && directory == self.directory.url ? "/2" : "/1"
                #expect(tool.rest().dropFirst().first?.hasSuffix(expected) == true, "\(directory.path)")
                #expect(tool.status == 0)
            }
        }
    }

    @Test("if there are several caches and none was named, it shows and removes nothing, and exits with 2")
    func several() throws {
        for name in ["one", "other"] {
            let opened = SQLiteURLCache(
                memoryCapacity: 0, diskCapacity: 8 << 20, directory: directory.url.appendingPathComponent(name))
            opened.storeCachedResponse(
                try Sample.cached("https://example.com/", Data([1])), for: try Sample.request("https://example.com/"))
            opened.flush()
        }
        for options in [[], ["--verify"], ["--purge"]] {
            let tool = try ChildProcess(program: "synchronizer-cache", [directory.url.path] + options)
            #expect(tool.rest().isEmpty && tool.status == 2)
        }
    }

    @Test("where there is no cache it says so, exits with 2, and makes none")
    func noCache() throws {
        for options in [[], ["--verify"], ["--purge"], ["--nonsense"]] {
            let tool = try ChildProcess(program: "synchronizer-cache", [directory.url.path] + options)
            #expect(tool.rest().isEmpty)
            #expect(tool.status == 2)
        }
        #expect(!FileManager.default.fileExists(atPath: directory.url.path))
    }

    @Test(
        "an empty argument is no directory, and only a server has a URL",
        arguments: [
            (["", "--purge"], "✘ An argument is empty."), ([""], "✘ An argument is empty."),
            (["file:///tmp"], "✘ A URL must begin with redis://, valkey:// or unix://."),
            (["http://localhost", "--verify"], "✘ A URL must begin with redis://, valkey:// or unix://."),
        ])
    func wrong(_ arguments: [String], _ message: String) throws {
        try fill()
        let shell = "exec 2>&1; cd '\(directory.url.path)'"
        let tool = try ChildProcess(program: "synchronizer-cache", arguments, shell: shell)
        let lines = tool.rest()
        #expect(lines.first == message && lines.dropFirst().first?.hasPrefix("synchronizer-cache DIR") == true)
        #expect(tool.status == 2)
        #expect(try run().lines.last == "3 responses, 91.2 kB of bodies.")
    }
}
