import Foundation
import Measuring
import Synchronizer
import Yardsticks

/// What more entries cost: bodies of 100 bytes, filled through the cache itself. Among however many, the same number is
/// asked for again and again: what is compared is the cache, and not the processor's, which holds a thousand entries.
enum ScaleRows {
    private static let bodySize = 100
    private static let asked = 1000
    private static let passes = 10

    static func rows(_ report: Report) throws -> [Row] {
        let scratch = try Scratch()
        let small = try Fixture.cache(scratch.path("small"))
        try Fixture.fill(small, 0..<1000, bodySize: bodySize, Fixture.fewFields)
        let large = try Fixture.cache(scratch.path("large"))
        try Fixture.fill(large, 0..<100_000, bodySize: bodySize, Fixture.fewFields)
        var rows = [try among(large, 100_000, small, .atMost(1.6)), try misses(large)]
        rows += try opening(large, scratch.path("large"))
        guard report.isWanted("1,000,000") else { return rows }
        try Fixture.fill(large, 100_000..<1_000_000, bodySize: bodySize, Fixture.fewFields)
        rows.append(try among(large, 1_000_000, small, .atMost(2)))
        return rows
    }

    private static func among(
        _ large: SQLiteURLCache, _ entries: Int, _ small: SQLiteURLCache, _ goal: Row.Goal
    ) throws -> Row {
        let many = try Fixture.scattered(asked, of: entries)
        let few = try Fixture.scattered(asked, of: 1000)
        let comparison = try Comparison(rounds: 11) {
            try lookUp(large, many)
        } against: {
            try lookUp(small, few)
        }
        let name = "lookup among \(entries == 100_000 ? "100,000" : "1,000,000") entries"
        return Row(name, comparison, unit: .microseconds, against: "among 1,000", goal)
    }

    private static func misses(_ cache: SQLiteURLCache) throws -> Row {
        let absent = try Fixture.requests(2_000_000..<2_000_000 + asked)
        let present = try Fixture.scattered(asked, of: 100_000)
        let comparison = try Comparison(rounds: 11) {
            try lookUp(cache, absent, bodySize: 0)
        } against: {
            try lookUp(cache, present)
        }
        return Row("miss among 100,000 entries", comparison, unit: .microseconds, against: "a hit", .atMost(1))
    }

    private static func lookUp(
        _ cache: SQLiteURLCache, _ requests: [URLRequest], bodySize: Int = bodySize
    ) throws -> Double {
        var total = 0.0
        for _ in 0..<passes { total += try Fixture.lookUp(cache, requests, bodySize: bodySize) }
        return total / Double(passes)
    }

    /// Opens a directory that the process does not have open, until the first hit.
    private static func opening(_ cache: SQLiteURLCache, _ directory: String) throws -> [Row] {
        // A copy, since a cache is closed when the last one that uses it is gone, and then in the background.
        let copy = directory + "-copy"
        cache.flush()
        try FileManager.default.createDirectory(
            atPath: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            try FileManager.default.copyItem(atPath: "\(directory)/\(name)", toPath: "\(copy)/\(name)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: copy)
        guard let generation = names.first(where: { $0.hasPrefix("Cache-") }) else {
            throw BenchmarkError("no database")
        }
        var number = 0
        let comparison = try Comparison(rounds: 9) {
            number += 7919
            let request = try Fixture.request(number)
            let time = nanoseconds {
                if Fixture.cache(copy).cachedResponse(for: request) == nil { number = -1 }
            }
            guard number > 0 else { throw BenchmarkError("not found") }
            usleep(200_000)  // until it is closed
            return time
        } against: {
            let select = "SELECT record FROM entries WHERE id > ? ORDER BY id LIMIT 1"
            return try Fixture.each(yardstick_open_and_select("\(copy)/\(generation)/Database", select, 0), 1)
        }
        return [
            Row(
                "open with 100,000 entries, until the first hit", comparison, unit: .milliseconds,
                against: "sqlite3_open and a select", .atMost(3))
        ]
    }
}
