import Foundation
import Measuring
import Synchronizer
import Yardsticks

/// Bodies that are files of their own.
enum LargeBodyRows {
    private static let entries = 8

    static func rows(_ megabytes: Int) throws -> [Row] {
        let size = megabytes << 20
        let count = max(40, 400 / megabytes)
        let scratch = try Scratch()
        let cache = try Fixture.cache(scratch.path("cache"))
        try Fixture.fill(cache, 0..<entries, bodySize: size)
        let requests = try Fixture.scattered(count, of: entries)
        let files = try scratch.path("files")
        _ = yardstick_write_files(files, Int32(entries), Int32(size))
        let ours = { try Fixture.lookUp(cache, requests, bodySize: size) }
        let reading = try Comparison(rounds: 15, ours) {
            try Fixture.each(yardstick_read_files(files, Int32(entries), Int32(count), Int32(size)), count)
        }
        let mapping = try Comparison(rounds: 15, ours) {
            try Fixture.each(yardstick_map_files(files, Int32(entries), Int32(count), Int32(size)), count)
        }
        let name = "\(megabytes) MB body"
        return [
            Row(name, reading, unit: .microseconds, against: "reading the file", .atMost(1.6)),
            Row(name, mapping, unit: .microseconds, against: "mapping it, and all its bytes", .atMost(1.6)),
        ]
    }
}
