import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import Testing

@testable import SQLiteCache

/// A cache of bodies that say who they are, whose files can be damaged.
struct Victim {
    static let keys = 60
    let directory = TemporaryDirectory()

    init() throws {
        try Self.fill(directory.cache())
    }

    static func url(_ key: Int) -> String { "https://example.com/churn/\(key)" }

    static func body(_ key: Int) -> Data {
        let size = key % 6 == 0 ? 80_000 + key : 100 + key * 300
        return StorageChurn.body(seed: 1, step: key, key: key, size: size)
    }

    /// An object that was made from that body.
    static func object(_ key: Int) -> Data {
        StorageChurn.body(seed: 2, step: key, key: key, size: 100 + key * 97)
    }

    private static func source(_ key: Int, entry: Int64) -> DerivedSource {
        let body = body(key)
        return DerivedSource(
            entry: entry, checksum: body.withUnsafeBytes { Checksum64.of($0) }, bodySize: body.count)
    }

    static func fill(_ cache: ResponseCache, closing: Bool = true) throws {
        for key in 0..<keys {
            let record = StoredRecord(Sample.stored(url(key), [("X-Key", "\(key)")]))
            let id = cache.store(record, cached: try Sample.cached(url(key), body(key)), keepsObject: false)
            cache.keepDerivedObject(object(key), as: "object", of: source(key, entry: id))
        }
        if closing { cache.close() } else { cache.flush() }
    }

    /// Looks everything up; returns how many responses were there. All of them must be right, and so must their objects.
    @discardableResult
    static func check(_ cache: ResponseCache, _ location: SourceLocation = #_sourceLocation) -> Int {
        count(cache, location).responses
    }

    static func count(
        _ cache: ResponseCache, _ location: SourceLocation = #_sourceLocation
    ) -> (responses: Int, objects: Int) {
        var (found, objects) = (0, 0)
        for key in 0..<keys {
            for row in cache.rows(of: url(key), wanting: { _ in true }) {
                let body = row.body ?? cache.body(of: row.id, url: url(key))
                guard let body else { continue }
                found += 1
                #expect(body == Self.body(key), sourceLocation: location)
                let object = cache.derivedObject("object", of: source(key, entry: row.id))
                #expect(object == nil || object == Self.object(key), sourceLocation: location)
                if object != nil { objects += 1 }
                let fields = row.record.decoded?.response.fields
                #expect(fields == HTTPFields([("X-Key", "\(key)")]), sourceLocation: location)
            }
        }
        return (found, objects)
    }

    /// Stores a response and finds it. Both must work, whatever has happened.
    static func checkUse(_ cache: ResponseCache, _ location: SourceLocation = #_sourceLocation) throws {
        let url = "https://example.com/after"
        cache.store(StoredRecord(Sample.stored(url)), cached: try Sample.cached(url, Data([1, 2])), keepsObject: false)
        let row = try #require(cache.rows(of: url) { _ in true }.first, sourceLocation: location)
        #expect(row.body ?? cache.body(of: row.id, url: url) == Data([1, 2]), sourceLocation: location)
    }

    var bodyFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.bodies)) ?? []
        return names.sorted().map { directory.bodies + "/" + $0 }
    }
}

/// Changes the bytes of a file that no connection has open.
func damageFile(at path: String, _ change: (inout Data) -> Void) throws {
    let url = URL(fileURLWithPath: path)
    var data = try Data(contentsOf: url)
    change(&data)
    try data.write(to: url)
}
