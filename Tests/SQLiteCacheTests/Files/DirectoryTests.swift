import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("The directory of the cache", .bounded)
struct DirectoryTests {
    let url = "https://example.com/x"

    func store(_ cache: ResponseCache, _ body: Data = Data([1])) throws {
        cache.store(StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, body), keepsObject: false)
    }

    func body(_ cache: ResponseCache) -> Data? {
        cache.rows(of: url).first.flatMap { row in cache.body(of: row.id, url: url) }
    }

    func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("directories are 0700, files 0600, whatever the umask")
    func modes() throws {
        let directory = TemporaryDirectory()
        let cache = directory.cache()
        try store(cache, Sample.body(100_000, seed: 1))
        cache.flush()
        #expect(try mode(directory.url.path) == 0o700)
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory.url.path)
        #expect(names.count == 5)
        for name in names {
            let isDirectory = !name.hasSuffix("/Database") && Int(name.split(separator: "/").last ?? "") == nil
            #expect(try mode(directory.url.path + "/" + name) == (isDirectory ? 0o700 : 0o600), "\(name)")
        }
    }

    @Test("a directory of ours that others can read is closed to them")
    func readable() throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let cache = directory.cache()
        try store(cache)
        cache.flush()
        #expect(try mode(directory.url.path) == 0o700)
        #expect(body(cache) == Data([1]))
    }

    @Test("a directory that others can write is refused with one explanation, and memory works")
    func writable() throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory.url.path)
        let reports = Reports()
        let cache = directory.cache(memory: 1 << 20, report: reports)
        for number in 0..<3 {
            try store(cache, Data([UInt8(number)]))
            cache.flush()
            #expect(body(cache) == Data([UInt8(number)]))
        }
        #expect(reports.lines.count == 1)
        #expect(reports.lines.first?.contains("can be written by others") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    }

    @Test("a directory that another user owns is refused", .enabled(if: geteuid() == 0, "only root can give one away"))
    func foreign() throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        #expect(chown(directory.url.path, 65_534, 65_534) == 0)
        let reports = Reports()
        let cache = directory.cache(memory: 1 << 20, report: reports)
        try store(cache)
        cache.flush()
        #expect(body(cache) == Data([1]))
        #expect(reports.lines.first?.contains("belongs to user 65534") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    }

    @Test("a symbolic link of this user is followed, unless it leads to a directory that others can write")
    func symbolicLinks() throws {
        let directory = TemporaryDirectory()
        let target = TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: target.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try FileManager.default.createSymbolicLink(at: directory.url, withDestinationURL: target.url)
        let cache = directory.cache()
        try store(cache)
        cache.flush()
        #expect(body(cache) == Data([1]))
        #expect(try Generation.newest(in: target.files) != nil)
        cache.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: target.url.path)
        #expect(body(directory.cache()) == nil)
    }

    @Test("a file in place of the directory leaves memory")
    func fileInstead() throws {
        let directory = TemporaryDirectory()
        try Data("mine".utf8).write(to: directory.url)
        let reports = Reports()
        let cache = directory.cache(memory: 1 << 20, report: reports)
        try store(cache)
        cache.flush()
        #expect(body(cache) == Data([1]))
        #expect(reports.lines.count == 1)
        #expect(try Data(contentsOf: directory.url) == Data("mine".utf8))
        #expect(cache.refusal(toStore: 1, isMemoryOnly: false) == .diskFailed)
        try FileManager.default.removeItem(at: directory.url)
        try store(cache)
        cache.flush()
        #expect(cache.refusal(toStore: 1, isMemoryOnly: false) == nil)
    }

    @Test("a directory that is removed while it is in use is made again", arguments: [0, 1 << 20])
    func removed(_ memory: Int) throws {
        let directory = TemporaryDirectory()
        let cache = directory.cache(memory: memory)
        try store(cache)
        cache.flush()
        #expect(body(cache) == Data([1]))
        try FileManager.default.removeItem(at: directory.url)
        _ = body(cache)
        for number in 2..<5 {
            try store(cache, Data([UInt8(number)]))
            cache.flush()
            #expect(body(cache) == Data([UInt8(number)]))
            #expect(body(directory.cache()) == Data([UInt8(number)]))
            if number == 3 { try FileManager.default.removeItem(at: directory.url) }
        }
    }

    @Test("a directory that is replaced by a file while it is in use leaves memory")
    func replaced() throws {
        let directory = TemporaryDirectory()
        let cache = directory.cache(memory: 1 << 20)
        try store(cache)
        cache.flush()
        try FileManager.default.removeItem(at: directory.url)
        try Data("mine".utf8).write(to: directory.url)
        try store(cache, Data([2]))
        cache.flush()
        #expect(body(cache) == Data([2]))
        try store(cache, Data([3]))
        #expect(body(cache) == Data([3]))
    }

    @Test("the default is for this user and this program, by XDG's rules on Linux")
    func defaultDirectory() {
        let path = CacheDirectory.defaultURL().path
        #expect(path.hasPrefix("/"))
        #expect(path.hasSuffix("/SQLiteURLCache"))
        #if !canImport(Darwin)
            let name = ProcessInfo.processInfo.processName
            let given = CacheDirectory.defaultURL(in: ["XDG_CACHE_HOME": "/some where"])
            #expect(given.path == "/some where/\(name)/SQLiteURLCache")
            let home = FileManager.default.homeDirectoryForCurrentUser.path
            for ignored in [[:], ["XDG_CACHE_HOME": ""], ["XDG_CACHE_HOME": "relative"]] {
                #expect(CacheDirectory.defaultURL(in: ignored).path == "\(home)/.cache/\(name)/SQLiteURLCache")
            }
        #endif
    }

    @Test("nothing is touched before the first use, nor where there is no disk capacity")
    func untouched() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: 1 << 20, disk: 0)
        let request = try Sample.request(url)
        cache.storeCachedResponse(try Sample.cached(url, Data([1])), for: request)
        #expect(cache.cachedResponse(for: request)?.data == Data([1]))
        cache.removeAllCachedResponses()
        cache.flush()
        let other = directory.urlCache()
        #expect(other.cachedResponse(for: request) == nil)
        other.removeAllCachedResponses()
        other.flush()
        #expect(!FileManager.default.fileExists(atPath: directory.url.path))
    }

    @Test(
        "where files may not grow, memory works on", .enabled(if: ChildProcess.isAvailable),
        .disabled(if: Sanitizers.areOn, "the sanitizers themselves need files"), arguments: [0, 16, 200, 1000])
    func smallFiles(_ kilobytes: Int) throws {
        // In units of 512 or 1024 bytes, as the shell has it.
        let child = try ChildProcess("memory", TemporaryDirectory(), shell: "ulimit -f \(kilobytes)")
        child.expectSuccess()
    }

    @Test(
        "without permission to write the directory, or in another user's, the memory cache still works",
        .enabled(if: ChildProcess.isAvailable))
    func noPermission() throws {
        for (mode, permissions) in [("no-permission", 0o777), ("stranger", 0o500)] {
            let directory = TemporaryDirectory()
            try FileManager.default.createDirectory(
                at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: permissions])
            try ChildProcess(mode, directory).expectSuccess()
        }
    }

    @Test(
        "if the disk is full for a while, the cache loses nothing but what was removed, and one line says so",
        .enabled(if: ChildProcess.isAvailable),
        .disabled(if: Sanitizers.areOn, "the sanitizers themselves need files"),
        arguments: ["full", "no-descriptors", "full-removal", "full-bodies", "full-objects", "full-here"])
    func fullDisk(_ mode: String) throws {
        let directory = TemporaryDirectory()
        let cache = directory.cache()
        let url = "https://example.com/churn/1"
        let body = StorageChurn.body(seed: 1, step: 1, key: 1, size: 900)
        cache.store(StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, body), keepsObject: false)
        cache.close()
        try ChildProcess(mode, directory).expectSuccess()
    }

    @Test("a directory of bodies that is removed while it is in use is made again")
    func bodiesRemoved() throws {
        let directory = TemporaryDirectory()
        let reports = Reports()
        let cache = directory.cache(report: reports)
        for number in 1...3 {
            let large = Sample.body(90_000, seed: UInt64(number))
            try store(cache, large)
            cache.flush()
            #expect(body(cache) == large)
            #expect(body(directory.cache()) == large)
            try FileManager.default.removeItem(atPath: directory.bodies)
        }
        #expect(reports.lines.isEmpty)
    }

    @Test("no link in place of the database is followed", arguments: [true, false])
    func links(_ isSymbolic: Bool) throws {
        let directory = TemporaryDirectory()
        let elsewhere = TemporaryDirectory()
        for directory in [directory, elsewhere] {
            let cache = directory.cache()
            try store(cache, Data([7]))
            cache.close()
        }
        let (path, target) = try (directory.generation.database, elsewhere.generation.database)
        #expect(unlink(path) == 0)
        #expect((isSymbolic ? symlink(target, path) : link(target, path)) == 0)
        let cache = directory.cache()
        try store(cache, Data([9]))
        cache.flush()
        #expect(body(cache) == Data([9]))
        #expect(body(elsewhere.cache()) == Data([7]), "the other database is as it was")
        cache.close()
    }

    @Test(
        "an entry that was removed while the disk could not be written does not come back when it can",
        .enabled(if: ChildProcess.isAvailable))
    func comesBack() throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        try ChildProcess("read-only", directory).expectSuccess()
    }

    @Test(
        "a removal works where there is no room for a journal, and costs no other entry",
        .enabled(if: ChildProcess.isAvailable && geteuid() == 0, "only root can become a user without privileges"))
    func noJournal() throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(
            at: directory.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        try ChildProcess("no-journal", directory).expectSuccess()
    }
}
