import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Files that the cache takes once their bodies have arrived", .bounded)
struct AdoptionTests {
    private let directory = TemporaryDirectory()
    private let url = "https://example.com/x"

    private func append(_ count: Int, to file: PartialFile?) throws {
        try Sample.body(count, seed: 1).withUnsafeBytes { try file?.append($0) }
    }

    private func row(of file: BodyFile) -> StoredRow {
        let id = MonotonicID.next()
        return StoredRow(
            id: id, url: url, urlKey: Checksum64.of(url), revision: id, stored: 0,
            record: EncodedRecord(StoredRecord(Sample.stored(url))), variant: Sample.stored(url).variantKey,
            bodySize: file.count)
    }

    @Test("keep their names if the transaction fails, so that the body is not lost")
    func failingCommit() throws {
        let cache = directory.cache()
        let partial = try #require(cache.makePartial(for: url, resumable: Sample.stored(url), length: 3 << 20))
        for _ in 0..<3 { try append(1 << 20, to: partial) }
        let file = try partial.finish()
        cache.close()
        let connection = try WriteConnection(
            directory: directory.files, generation: directory.generation, busyTimeout: .none)
        // A reader's lock makes the commit fail.
        let reader = try directory.database()
        try reader.execute("BEGIN")
        #expect(try reader.integer(Schema.countEntries) == 0)
        #expect { try connection.adopt(row(of: file), file: file) } throws: { ($0 as? SQLiteFailure)?.isBusy == true }
        #expect(FileSystem.isFile(partial.descriptor, atOneOf: [partial.path]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.generation.path + "/Moving") == [])
        try reader.execute("COMMIT")
        let stored = row(of: file)
        #expect(try connection.adopt(stored, file: file))
        #expect(FileSystem.isFile(partial.descriptor, atOneOf: connection.files.paths(stored.id)))
        #expect(!FileManager.default.fileExists(atPath: partial.path))
    }

    @Test("are not locked any more, because a caller may get a hard link to them", arguments: [true, false])
    func unlocked(isAdopted: Bool) throws {
        let cache = directory.cache()
        let partial = try #require(cache.makePartial(for: url, resumable: Sample.stored(url), length: 1000))
        try append(1000, to: partial)
        let caller = open(partial.path, O_RDWR)
        defer { close(caller) }
        #expect(FileLock.takeToWrite(caller) == .busy)
        let file = try partial.finish()
        if isAdopted { #expect(cache.store(StoredRecord(Sample.stored(url)), file: file)) } else { file.drop() }
        #expect(FileLock.takeToWrite(caller) == .locked)
    }

    @Test("are refused if the capacity has become too small for them")
    func lowered() throws {
        let cache = directory.cache(disk: 100 << 20)
        let partial = try #require(cache.makePartial(for: url, resumable: nil, length: 10 << 20))
        for _ in 0..<10 { try append(1 << 20, to: partial) }
        cache.diskCapacity = 12 << 20
        #expect(!cache.store(StoredRecord(Sample.stored(url)), file: try partial.finish()))
        cache.diskCapacity = 100 << 20
        #expect(cache.store(StoredRecord(Sample.stored(url)), file: try partial.finish()))
    }

    @Test("leave in memory what is in the database, although another thread stores a response at the same moment")
    func order() throws {
        let cache = directory.cache(memory: 64 << 20)
        for round in 0..<200 {
            let partial = try #require(cache.makePartial(for: url, resumable: nil, length: 20_000))
            try append(20_000, to: partial)
            let file = try partial.finish()
            let other = try Sample.cached(url, Data("\(round)".utf8))
            let threads = onThreads(2) { [url] number in
                let record = StoredRecord(Sample.stored(url))
                if number == 0 {
                    _ = cache.store(record, file: file)
                } else {
                    cache.store(record, cached: other, keepsObject: false)
                }
            }
            threads.wait()
            let known = cache.rows(of: url).map(\.id)
            cache.flush()
            #expect(cache.rows(of: url).map(\.id) == known)
            #expect(directory.cache().rows(of: url).map(\.id) == known)
        }
    }

    @Test("are not removed by a load that could not continue them if another load has")
    func continued() throws {
        let cache = directory.cache()
        var file = cache.makePartial(for: url, resumable: Sample.stored(url), length: 8 << 20)
        try append(2_000_000, to: file)
        file = nil
        let kept = try #require(cache.kept(for: url).first)
        var other = kept.open()
        try append(2_000_000, to: other)
        other = nil
        kept.remove()
        #expect(cache.kept(for: url).map(\.count) == [4_000_000])
        cache.kept(for: url).first?.remove()
        #expect(cache.kept(for: url).isEmpty)
    }

    @Test("may be those of an entry that the cache has a copy of, under the same variant or another one")
    func copies() throws {
        let cache = directory.urlCache()
        let (id, other) = (MonotonicID.next(), "https://example.com/other")
        cache.cache.store(StoredRecord(Sample.stored(other)), body: Sample.body(10, seed: 2))
        cache.flush()
        let generation = try directory.generation
        for language in ["de", "de", "en"] {
            let response = Sample.stored(url, [("Vary", "Accept-Language")], selecting: [("Accept-Language", language)])
            let partial = try #require(cache.cache.makePartial(for: url, resumable: response, length: 20_000))
            try append(20_000, to: partial)
            let entry = MirroredEntry(
                id: id, record: EncodedRecord(StoredRecord(response)), variant: response.variantKey,
                body: .file(try partial.finish()))
            #expect(cache.keep(entry, of: url))
            #expect(cache.copies(of: url).map(\.id) == [id])
            #expect(cache.copies(of: url).first?.record.decoded?.response == response)
            #expect(cache.cache.bodyFile(of: id, url: url)?.data == Sample.body(20_000, seed: 1))
        }
        // Another process has made the same identifier.
        let partial = try #require(cache.cache.makePartial(for: other, resumable: nil, length: 20_000))
        try append(20_000, to: partial)
        #expect(!cache.cache.store(StoredRecord(Sample.stored(other)), file: try partial.finish(), id: id))
        #expect(try directory.generation == generation)
        #expect(cache.copies(of: url).count == 1)
        #expect(cache.copies(of: other).count == 1)
    }
}
