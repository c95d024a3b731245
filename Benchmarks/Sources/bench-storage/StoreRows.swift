import Foundation
import Measuring
import Synchronizer
import Yardsticks

/// Stores of 20 KB.
enum StoreRows {
    /// Nanoseconds for one, until the caller goes on.
    static func store(in cache: URLCache, _ numbers: Range<Int>) throws -> Double {
        let requests = try numbers.map(Fixture.request)
        let responses = try requests.map { try Fixture.response(to: $0, Fixture.body(Fixture.bodySize, seed: 1)) }
        return nanoseconds {
            for (request, response) in zip(requests, responses) { cache.storeCachedResponse(response, for: request) }
        } / Double(numbers.count)
    }

    static func asCallerSees() throws -> [Row] {
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"))
        let files = try scratch.path("files")
        let count = 300
        let comparison = try Comparison {
            cache.removeAllCachedResponses()
            cache.flush()
            let time = try store(in: cache, 0..<count)
            cache.flush()
            return time
        } against: {
            try Fixture.each(yardstick_replace_files(files, Int32(count), Int32(Fixture.bodySize)), count)
        }
        let name = "store, as the caller sees it"
        return [Row(name, comparison, unit: .microseconds, against: "write a file, rename it", .faster(3))]
    }

    static func sustained() throws -> [Row] {
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"))
        let files = try scratch.path("files")
        let count = 1500
        var (round, stored) = (0, 0)
        let comparison = try Comparison {
            // Other responses in each round: ext4 skips inodes that were deleted within the last seconds, which would take
            // longer than the rest.
            let requests = try Fixture.requests(stored..<stored + count)
            stored += count
            let responses = try requests.map { try Fixture.response(to: $0, Fixture.body(Fixture.bodySize, seed: 1)) }
            return nanoseconds {
                for (request, response) in zip(requests, responses) {
                    cache.storeCachedResponse(response, for: request)
                }
                cache.flush()
            } / Double(count)
        } against: {
            round += 1
            let path = "\(files)/\(round).db"
            return try Fixture.each(yardstick_insert_rows(path, Int32(count), Int32(Fixture.bodySize), 1), count)
        }
        let name = "store, until it is in the file, sustained"
        return [Row(name, comparison, unit: .microseconds, against: "SQLite's bare insert, WAL", .faster(0.7))]
    }
}
