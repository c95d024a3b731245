import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// A value in the row of an entry, with its place before the checksum of the body in the file of the database
/// (sqlite.org/fileformat2.html#record_format).
private enum StoredValue: Int, CaseIterable, Sendable {
    case urlKey = 38
    case variant = 30
    case revision = 22
    case stored = 14
    case used = 8
    case length = 2
}

@Suite("A flipped bit in the row of an entry or in an index", .bounded)
struct FlippedBitTests {
    private let directory = TemporaryDirectory()
    private let clock = ManualClock()

    private func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private func store(_ cache: ResponseCache, _ number: Int, size: Int = 3000) throws {
        clock.advance(by: 1)
        let cached = try Sample.cached(url(number), Sample.body(size, seed: UInt64(number)))
        cache.store(StoredRecord(Sample.stored(url(number))), cached: cached, keepsObject: false)
    }

    /// The numbers of the entries that are found.
    private func found(_ cache: ResponseCache, of count: Int = 20) -> [Int] {
        (0..<count).filter { cache.rows(of: url($0)) { _ in true }.first?.body != nil }
    }

    private func filled(_ count: Int = 20, size: Int = 3000) throws -> ResponseCache {
        let cache = directory.cache(time: clock)
        for number in 0..<count { try store(cache, number, size: size) }
        cache.flush()
        return cache
    }

    /// Closes the cache, and passes the bytes of its database and an entry.
    private func damage(
        _ cache: ResponseCache, entry number: Int, _ change: (inout Data, StoredRow) throws -> Void
    ) throws {
        let row = try #require(cache.rows(of: url(number)).first)
        cache.close()
        let path = try directory.generation.database
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        try change(&data, row)
        try data.write(to: URL(fileURLWithPath: path))
    }

    private func bytes(_ value: Int64) -> Data { withUnsafeBytes(of: value.bigEndian) { Data($0) } }

    /// Changes the identifier of an entry in the table, but not in the indexes.
    private func damageIdentifier(_ cache: ResponseCache, entry number: Int, bit: UInt8) throws {
        try damage(cache, entry: number) { data, row in
            let id = UInt64(bitPattern: row.id)
            let bytes = stride(from: 57, through: 8, by: -7).map { 0x80 | UInt8(truncatingIfNeeded: id >> UInt64($0)) }
            let place = try #require(
                data.range(of: Data(bytes + [UInt8(truncatingIfNeeded: id)]), options: .backwards))
            data[place.lowerBound] ^= bit
        }
    }

    /// The position of the checksum of the body. Only the row has this checksum.
    private func checksum(of row: StoredRow, in data: Data) throws -> Int {
        let checksum = try #require(row.bodyChecksum)
        return try #require(data.range(of: bytes(Int64(bitPattern: checksum)))).lowerBound
    }

    @Test("costs only that entry, whichever value has it", arguments: StoredValue.allCases)
    private func value(_ value: StoredValue) throws {
        let cache = try filled()
        let generation = try directory.generation
        try damage(cache, entry: 5) { data, row in
            data[try checksum(of: row, in: data) - value.rawValue] ^= 1
        }
        let rows = (0..<20).compactMap { cache.rows(of: url($0)).first }
        for row in rows { cache.markUsed(row.id) }
        cache.flush()
        cache.change(.removeURL(url(5), urlKey: Checksum64.of(url(5))))
        cache.flush()
        cache.close()
        #expect(found(cache) == (0..<20).filter { $0 != 5 })
        #expect(try directory.generation == generation)
        #expect(try directory.database().texts(Schema.integrityCheck) == ["ok"])
        #expect(try directory.database().integer(Schema.countEntries) == 19)
    }

    @Test("costs a smaller capacity only that entry, even if the row then lacks a value")
    func missingValue() throws {
        let cache = try filled(399)
        try store(cache, 399, size: 0)
        cache.flush()
        try damage(cache, entry: 399) { data, row in
            // The header of a record has the types of its values: 8 is the integer 0, which takes no bytes, and 0 is NULL.
            let types = Data([0, 6, 6, 6, 5, 5, 8, 6, 6])
            let end = try checksum(of: row, in: data)
            let start = try #require(data.range(of: types, options: .backwards, in: 0..<end)).lowerBound
            data[start + 6] = 0
        }
        let generation = try directory.generation
        cache.diskCapacity = 600 << 10
        cache.flush()
        #expect(try directory.generation.number == generation.number + 1)
        let found = found(cache, of: 400)
        #expect(found.count > 50)
        #expect(found == Array((399 - found.count)..<399))
    }

    @Test("makes no removed entry come back, although the index by URL did not have it", arguments: [false, true])
    func lostEntry(isCopied: Bool) throws {
        let cache = try filled(400)
        try damage(cache, entry: 399) { data, row in
            let place = try #require(data.range(of: bytes(row.revision) + bytes(row.id)))  // in the index
            data[place.lowerBound - 1] ^= 1
        }
        cache.change(.removeURL(url(399), urlKey: Checksum64.of(url(399))))
        cache.flush()
        if isCopied {
            cache.diskCapacity = 600 << 10
            cache.flush()
        } else {
            let connection = try WriteConnection(
                directory: directory.files, generation: directory.generation, busyTimeout: .none)
            #expect(connection.rebuildsIndexes())
        }
        #expect(found(cache, of: 400).contains(398))
        #expect(!found(cache, of: 400).contains(399))
    }

    @Test("in the index by URL costs one entry, whether a lookup or a removal meets it", arguments: [false, true])
    func entryWithoutRow(isRemoval: Bool) throws {
        let cache = try filled()
        let generation = try directory.generation
        try damage(cache, entry: 5) { data, row in
            let place = try #require(data.range(of: bytes(row.revision) + bytes(row.id)))
            data[place.upperBound - 1] ^= 0x80
        }
        if isRemoval {
            cache.change(.removeURL(url(5), urlKey: Checksum64.of(url(5))))
        } else {
            _ = found(cache)
        }
        cache.flush()
        #expect(found(cache) == (0..<20).filter { $0 != 5 })
        #expect(try directory.generation == generation)
        #expect(try directory.database().texts(Schema.integrityCheck) == ["ok"])
        #expect(try directory.database().integer(Schema.countEntries) == 19)
    }

    @Test("in an identifier costs a listing only that entry", arguments: [0x40, 0x10] as [UInt8])
    func identifier(bit: UInt8) async throws {
        let cache = try filled(600, size: 10)
        try damageIdentifier(cache, entry: 255, bit: bit)
        let expected = (0..<600).filter { $0 != 255 }.map(url)
        var listed: [String] = []
        for await entry in directory.urlCache(time: clock).entries {
            listed.append(entry.url)
            try #require(listed.count < 600)
        }
        #expect(listed == expected)
        let contents = try CacheInspection(directory.url).contents()
        #expect(contents.entries.count == 599 && contents.corruptRows >= 1)
    }

    @Test("in an identifier makes no removal by date incomplete", arguments: [0x40, 0x10] as [UInt8])
    func removalByDate(bit: UInt8) throws {
        let cache = try filled(600, size: 10)
        let batch = DiskBudget(capacity: 64 << 20).batchCount
        let moment = try #require(cache.rows(of: url(350)).first).stored
        try damageIdentifier(cache, entry: 350 + batch - 1, bit: bit)
        cache.change(.removeSince(moment))
        cache.flush()
        // Before a lookup meets the damage, and has the database replaced.
        let condition = "NOT INDEXED WHERE stored >= \(moment)"
        #expect(try directory.database().integer("SELECT count(*) FROM entries \(condition)") == 0)
        #expect(found(cache, of: 600).allSatisfy { $0 < 350 })
        try store(cache, 0)
        cache.flush()
        #expect(found(cache).contains(0))
    }

    @Test("in the type of a value in the index by use costs nothing")
    func typeInIndex() throws {
        let cache = try filled()
        let generation = try directory.generation
        try damage(cache, entry: 5) { data, row in
            let uses = bytes(row.stored).suffix(6) + bytes(Int64(row.bodySize)).suffix(2)
            let place = try #require(data.range(of: uses + bytes(row.id)))
            data[place.lowerBound - 3] ^= 4  // the types of `used`, `length` and the identifier are before the values
        }
        for number in 0..<20 { cache.rows(of: url(number)).first.map { cache.markUsed($0.id) } }
        cache.flush()
        cache.diskCapacity = 200 << 10
        cache.flush()
        #expect(found(cache).contains(19))
        #expect(try directory.generation == generation)
        #expect(try directory.database().texts(Schema.integrityCheck) == ["ok"])
    }

    @Test(
        "keeps no eviction from making room if the index by use has entries without a row",
        arguments: [1, 30])
    func entriesWithoutRow(_ count: Int) throws {
        let capacity = 4 << 20
        let cache = directory.cache(disk: capacity, time: clock)
        for number in 0..<30 { try store(cache, number, size: number == 0 ? 1 << 20 : 40_000) }
        cache.flush()
        let generation = try directory.generation
        for number in 0..<count {
            try damage(cache, entry: number) { data, row in
                let uses = bytes(row.stored).suffix(6) + bytes(Int64(row.bodySize)).suffix(3)
                let place = try #require(data.range(of: uses + bytes(row.id)))
                data[place.upperBound - 1] ^= 1
            }
        }
        for number in 100..<300 {
            try store(cache, number, size: 100_000)
            if number % 20 == 0 { cache.flush() }
        }
        cache.flush()
        directory.waitForRemovals()
        #expect(try directory.allocatedBytes() <= capacity / 10 * 11)
        #expect(found(cache, of: 300).contains(299))
        #expect(try directory.generation == generation)
    }
}
