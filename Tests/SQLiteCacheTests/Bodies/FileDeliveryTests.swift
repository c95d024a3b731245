import Foundation
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Files that are put where a caller wants them", .bounded)
struct FileDeliveryTests {
    private let disposable = DisposableDirectory("deliveries")
    private var destination: URL { disposable.url.appendingPathComponent("file") }

    init() throws {
        try FileManager.default.createDirectory(at: disposable.url, withIntermediateDirectories: true)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: disposable.url.path).sorted() }
    }

    /// A `chroot` may have no `/proc`.
    @Test("make files where open files can't be linked", arguments: [true, false])
    func withoutLinks(canLink: Bool) throws {
        let path = disposable.url.appendingPathComponent("new").path
        let isFilled = try FileSystem.make(path, canLink: canLink) { file in
            [UInt8](1...3).withUnsafeBytes { Descriptor.write($0, to: file, at: 0) }
        }
        #expect(isFilled)
        #expect(FileManager.default.contents(atPath: path) == Data(1...3))
        let other = disposable.url.appendingPathComponent("other").path
        #expect(try !FileSystem.make(other, canLink: canLink) { _ in false })
        #expect(!FileManager.default.fileExists(atPath: other))
    }

    @Test("the next load to a destination removes the file of a process that was killed before its last step")
    func sweep() throws {
        struct Killed: Error {}
        let place = PartialFiles(besides: destination.path)
        let left = disposable.url.appendingPathComponent("left").path
        #expect(throws: Killed.self) {
            try FileDelivery(to: destination).put(Data([1])) {
                let name = try #require(try names.first)
                #expect(link(place.path(name), left) == 0)
                throw Killed()
            }
        }
        #expect(try names == ["left"])
        #expect(rename(left, place.path(place.newName())) == 0)
        #expect(place.kept(for: "https://example.com/").isEmpty)
        #expect(try names == [])
    }

    @Test(
        "two files of callers never share their bytes, though the cache has evicted the body in between",
        arguments: [true, false])
    func evicted(hasJustArrived: Bool) throws {
        let (cache, url, whole) = (TemporaryDirectory().cache(), "https://example.com/x", Sample.body(300_000, seed: 1))
        let arriving = try #require(cache.makePartial(for: url, resumable: nil, length: whole.count))
        try whole.withUnsafeBytes { try arriving.append($0) }
        let adopted = try arriving.finish()
        #expect(cache.store(StoredRecord(Sample.stored(url)), file: adopted))
        let row = try #require(cache.rows(of: url).first)
        let found = try #require(cache.bodyFile(of: row.id, url: url))
        try FileDelivery(to: destination).put(found) {}
        let body = hasJustArrived ? adopted : found
        cache.change(.remove(id: row.id, urlKey: row.urlKey))
        cache.flush()
        let other = destination.appendingPathExtension("other")
        try FileDelivery(to: other).put(body) {}
        let handle = try FileHandle(forWritingTo: destination)
        try handle.write(contentsOf: Data("changed".utf8))
        try handle.close()
        #expect(try Data(contentsOf: other) == whole)
    }

    @Test("only the names that are wanted are read from a folder")
    func prefix() throws {
        for name in [".download-1-a", ".download-1-", ".download-12", "é", ".download-2-a"] {
            try Data().write(to: disposable.url.appendingPathComponent(name))
        }
        let path = disposable.url.path
        #expect(try Set(FileSystem.names(in: path, prefix: ".download-1-") ?? []) == [".download-1-a", ".download-1-"])
        #expect(try FileSystem.names(in: path)?.count == 5)
    }

    /// Stores a body, and opens its file.
    private func storedFile(of body: Data, in directory: TemporaryDirectory) throws -> (id: Int64, file: BodyFile) {
        let (cache, url) = (directory.cache(), "https://example.com/x")
        cache.store(StoredRecord(Sample.stored(url)), body: body)
        cache.flush()
        let id = try #require(cache.rows(of: url).first).id
        return (id, try #require(cache.bodyFile(of: id, url: url)))
    }

    @Test(
        "a body that is changed while it is read, through a caller's link, is an error at its end",
        arguments: [true, false])
    func changedDuringRead(isPart: Bool) throws {
        let (directory, whole) = (TemporaryDirectory(), Sample.body(1_000_000, seed: 1))
        let (id, found) = try storedFile(of: whole, in: directory)
        let body = isPart ? try #require(found.part(100..<999_000)) : found
        #expect(body.data == (isPart ? whole[100..<999_000] : whole))
        let path = URL(fileURLWithPath: try directory.generation.bodies.settledPath(id))
        var count = 0
        #expect(throws: FileError.self) {
            try body.forEachPiece { piece in
                if count == 0 {
                    let handle = try FileHandle(forUpdating: path)
                    try handle.seek(toOffset: 900_000)
                    try handle.write(contentsOf: Data("changed".utf8))
                    try handle.close()
                }
                count += piece.count
            }
        }
        #expect(count == body.count)
        #expect(body.data == nil)
    }

    @Test("a part of a body is of the bytes that were verified: none if a caller changed the body after it was opened")
    func changedBeforePart() throws {
        let (directory, whole) = (TemporaryDirectory(), Sample.body(1_000_000, seed: 1))
        let (id, found) = try storedFile(of: whole, in: directory)
        for part in [0..<0, 0..<1, 100..<999_000, 300_000..<300_007, 999_999..<1_000_000] {
            #expect(found.part(part)?.data == whole[part])
        }
        let path = URL(fileURLWithPath: try directory.generation.bodies.settledPath(id))
        let handle = try FileHandle(forUpdating: path)
        try handle.write(contentsOf: Data([whole[0] ^ 1]))
        try handle.close()
        #expect(found.part(0..<1) == nil && found.part(100..<200) == nil)
    }

    @Test("a body that waits in memory is found there, and none is read from the disk into memory in place of its file")
    func notFromDisk() throws {
        let (directory, url, whole) = (TemporaryDirectory(), "https://example.com/x", Sample.body(1_000_000, seed: 1))
        let cache = directory.cache()
        cache.store(StoredRecord(Sample.stored(url)), body: whole)
        let row = try #require(cache.rows(of: url).first)
        #expect(cache.body(of: row.id, url: url, fromDisk: false) == whole)
        cache.flush()
        let other = directory.cache()
        #expect(other.body(of: row.id, url: url, fromDisk: false) == nil)
        #expect(other.body(of: row.id, url: url) == whole)
    }

    @Test("a load to the same destination that sweeps in the middle of a delivery does not make it fail")
    func sweepDuringDelivery() throws {
        var checks = 0
        try FileDelivery(to: destination).put(Data([1, 2])) {
            checks += 1
            let before = try names
            if checks < 3 { PartialFiles(besides: destination.path).sweep() }
            #expect(try before.count == 1 && names.count == (checks < 3 ? 0 : 1))
        }
        #expect(checks == 3)
        #expect(try names == ["file"])
        #expect(try Data(contentsOf: destination) == Data([1, 2]))
    }
}
