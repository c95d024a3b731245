import Foundation
import Measuring
import Synchronizer
import Yardsticks

/// Lookups of 20 KB, on the disk and in memory.
enum LookUpRows {
    private static let entries = 2000

    /// Two comparisons with reading files of that size. One row looks up the body alone. The other looks up the whole entry and
    /// creates its response, and its comparison reads a file and creates a response.
    static func disk() throws -> [Row] {
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"))
        try Fixture.fill(cache, 0..<entries, bodySize: Fixture.bodySize)
        let requests = try Fixture.scattered(entries, of: entries)
        let files = try scratch.path("files")
        _ = yardstick_write_files(files, Int32(entries), Int32(Fixture.bodySize))
        let reading = {
            try Fixture.each(
                yardstick_read_files(files, Int32(entries), Int32(entries), Int32(Fixture.bodySize)), entries)
        }
        let whole = try Comparison(rounds: 15) {
            try Fixture.lookUpWhole(cache, requests)
        } against: {
            try reading() + Fixture.makeResponses(requests)
        }
        let bare = try Comparison(rounds: 15) {
            try Fixture.lookUp(cache, requests, bodySize: Fixture.bodySize)
        } against: {
            try reading()
        }
        let against = "open/fstat/read/close"
        return [
            Row(
                "lookup on disk, with its HTTPURLResponse", whole, unit: .microseconds,
                against: against + ", HTTPURLResponse.init", .atMost(1.8)),
            Row("lookup on disk, body alone", bare, unit: .microseconds, against: against, .atMost(4.3)),
        ]
    }

    /// Beside the stock cache, among 500 entries: lookups and stores on the disk.
    static func stockOnDisk() throws -> [Row] {
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"))
        let stock = try URLCache(memoryCapacity: 0, diskCapacity: 1 << 30, diskPath: scratch.path("stock"))
        try Fixture.fill(cache, 0..<500, bodySize: Fixture.bodySize)
        try Fixture.fill(stock, 0..<500, bodySize: Fixture.bodySize)
        let requests = try Fixture.scattered(500, of: 500)
        let lookUps = try Comparison(rounds: 3) {
            try Fixture.lookUp(cache, requests, bodySize: Fixture.bodySize)
        } against: {
            try Fixture.lookUp(stock, requests.prefix(40), bodySize: Fixture.bodySize)
        }
        var next = 500
        let stores = try Comparison(rounds: 3) {
            let time = try StoreRows.store(in: cache, next..<next + 500)
            cache.flush()
            return time
        } against: {
            next += 500
            return try StoreRows.store(in: stock, next..<next + 10)
        }
        let against = "stock URLCache on disk"
        return [
            Row("lookup on disk, 500 entries", lookUps, unit: .microseconds, against: against, .faster(300)),
            Row("store, as the caller sees it", stores, unit: .microseconds, against: against, .faster(100)),
        ]
    }

    static func memory() throws -> [Row] {
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"), memory: 1 << 30)
        let stock = URLCache(memoryCapacity: 1 << 30, diskCapacity: 0, diskPath: "/dev/null")
        try Fixture.fill(cache, 0..<500, bodySize: Fixture.bodySize)
        try Fixture.fill(stock, 0..<500, bodySize: Fixture.bodySize)
        let requests = try Fixture.scattered(20_000, of: 500)
        let comparison = try Comparison {
            try Fixture.lookUp(cache, requests, bodySize: Fixture.bodySize)
        } against: {
            try Fixture.lookUp(stock, requests, bodySize: Fixture.bodySize)
        }
        return [
            Row("lookup in memory", comparison, unit: .microseconds, against: "stock URLCache in memory", .faster(1.5))
        ]
    }

    /// Says how much faster four threads read files of that size than one does: on a machine that is shared with others
    /// that is what the row beside it can be compared with.
    private static func tellWhatThreadsGain(_ files: String) throws {
        let size = Int32(Fixture.bodySize)
        _ = yardstick_write_files(files, Int32(entries), size)
        let comparison = try Comparison(rounds: 11) {
            nanoseconds {
                DispatchQueue.concurrentPerform(iterations: 4) { _ in
                    _ = yardstick_read_files(files, Int32(entries), Int32(entries), size)
                }
            } / Double(4 * entries)
        } against: {
            try Fixture.each(yardstick_read_files(files, Int32(entries), Int32(entries), size), entries)
        }
        let gain = (100 / comparison.ratio).rounded() / 100
        FileHandle.standardError.write(Data("4 threads reading files: \(gain)× as fast as one\n".utf8))
    }

    /// Four threads, each with requests of its own, beside one.
    static func threads() throws -> [Row] {
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"))
        try Fixture.fill(cache, 0..<entries, bodySize: Fixture.bodySize)
        let requests = try (0..<4).map { try Fixture.scattered(entries, of: entries, from: $0 * entries / 4) }
        let comparison = try Comparison(rounds: 11) {
            nanoseconds {
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    _ = try? Fixture.lookUp(cache, requests[thread], bodySize: Fixture.bodySize)
                }
            } / Double(4 * entries)
        } against: {
            try Fixture.lookUp(cache, requests[0], bodySize: Fixture.bodySize)
        }
        try tellWhatThreadsGain(scratch.path("files"))
        return [Row("4 threads looking up", comparison, unit: .microseconds, against: "1 thread", .faster(1.3))]
    }
}
