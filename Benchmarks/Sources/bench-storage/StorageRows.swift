import Foundation
import Measuring
import Synchronizer
import Yardsticks

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

let storageRows: [@Sendable () throws -> Row] = [
    { try diskLookUp(looksAtResponse: false) }, { try diskLookUp(looksAtResponse: true) }, diskAgainstStock,
    memoryLookUp, { try storing(durable: false) }, { try storing(durable: true) }, { try largeBody(1 << 20) },
    { try largeBody(8 << 20) }, threads,
]

private func each(_ total: Int64, _ count: Int) throws -> Double {
    guard total >= 0 else { throw BenchmarkError("a yardstick failed") }
    return Double(total) / Double(count)
}

private func diskLookUp(looksAtResponse: Bool) throws -> Row {
    let scratch = try Scratch()
    let (count, size) = (2000, Fixture.bodySize)
    let requests = try Fixture.requests(count)
    let cache = try Fixture.cache(scratch.path("cache"))
    try Fixture.fill(cache, requests, bodySize: size)
    let files = try scratch.path("files")
    _ = yardstick_write_files(files, Int32(count), Int32(size))
    let comparison = try Comparison {
        guard looksAtResponse else { return try Fixture.lookUp(cache, requests, bodySize: size) }
        var statuses = 0
        let time = nanoseconds {
            for index in 0..<count {
                let found = cache.cachedResponse(for: requests[index &* 7919 % count])
                statuses += (found?.response as? HTTPURLResponse)?.statusCode ?? 0
            }
        }
        guard statuses == 200 * count else { throw BenchmarkError("not all were found") }
        return time / Double(count)
    } against: {
        try each(yardstick_read_files(files, Int32(count), Int32(count), Int32(size)), count)
    }
    let name = looksAtResponse ? "look-up on disk, and its HTTPURLResponse made" : "look-up on disk, 2,000 entries"
    return Row(name, comparison, unit: .microseconds, against: "open/fstat/read/close", .atMost(3.5))
}

private func diskAgainstStock() throws -> Row {
    let scratch = try Scratch()
    let requests = try Fixture.requests(500)
    let cache = try Fixture.cache(scratch.path("cache"))
    let stock = try URLCache(memoryCapacity: 0, diskCapacity: 1 << 30, diskPath: scratch.path("stock"))
    try Fixture.fill(cache, requests, bodySize: Fixture.bodySize)
    try Fixture.fill(stock, requests, bodySize: Fixture.bodySize)
    let comparison = try Comparison(rounds: 3) {
        try Fixture.lookUp(cache, requests, bodySize: Fixture.bodySize)
    } against: {
        try Fixture.lookUp(stock, requests, bodySize: Fixture.bodySize, count: 40)
    }
    return Row(
        "the same, 500 entries", comparison, unit: .microseconds, against: "stock URLCache on disk", .faster(300))
}

private func memoryLookUp() throws -> Row {
    let scratch = try Scratch()
    let requests = try Fixture.requests(500)
    let cache = try Fixture.cache(scratch.path("cache"), memory: 1 << 30)
    let stock = URLCache(memoryCapacity: 1 << 30, diskCapacity: 0, diskPath: "/dev/null")
    try Fixture.fill(cache, requests, bodySize: Fixture.bodySize)
    try Fixture.fill(stock, requests, bodySize: Fixture.bodySize)
    let comparison = try Comparison {
        try Fixture.lookUp(cache, requests, bodySize: Fixture.bodySize, count: 20_000)
    } against: {
        try Fixture.lookUp(stock, requests, bodySize: Fixture.bodySize, count: 20_000)
    }
    return Row("look-up in memory", comparison, unit: .microseconds, against: "stock URLCache in memory", .faster(1.5))
}

private func storing(durable: Bool) throws -> Row {
    let scratch = try Scratch()
    let count = durable ? 1500 : 300
    let requests = try Fixture.requests(count)
    let responses = try requests.map { try Fixture.response(to: $0, Fixture.body(Fixture.bodySize, seed: 1)) }
    let cache = try Fixture.cache(scratch.path("cache"))
    let files = try scratch.path("files")
    var round = 0
    let comparison = try Comparison(rounds: 5) {
        cache.removeAllCachedResponses()
        cache.flush()
        let time = nanoseconds {
            for (request, response) in zip(requests, responses) { cache.storeCachedResponse(response, for: request) }
            if durable { cache.flush() }
        }
        cache.flush()
        return time / Double(count)
    } against: {
        round += 1
        guard durable else {
            return try each(yardstick_replace_files(files, Int32(count), Int32(Fixture.bodySize)), count)
        }
        let path = files + "/\(round).db"
        return try each(yardstick_insert_rows(path, Int32(count), Int32(Fixture.bodySize), 1), count)
    }
    return durable
        ? Row("store, durable, sustained", comparison, unit: .microseconds, against: "bare WAL insert", .faster(0.7))
        : Row("store, as the caller sees it", comparison, unit: .microseconds, against: "file and rename", .faster(3))
}

private func largeBody(_ size: Int) throws -> Row {
    let scratch = try Scratch()
    let requests = try Fixture.requests(8)
    let cache = try Fixture.cache(scratch.path("cache"))
    try Fixture.fill(cache, requests, bodySize: size)
    let files = try scratch.path("files")
    _ = yardstick_write_files(files, 8, Int32(size))
    let comparison = try Comparison {
        try Fixture.lookUp(cache, requests, bodySize: size, count: 40)
    } against: {
        try each(yardstick_read_files(files, 8, 40, Int32(size)), 40)
    }
    return Row("\(size >> 20) MB body", comparison, unit: .microseconds, against: "reading the file", .atMost(1.3))
}

private func threads() throws -> Row {
    let scratch = try Scratch()
    let requests = try Fixture.requests(2000)
    let cache = try Fixture.cache(scratch.path("cache"))
    try Fixture.fill(cache, requests, bodySize: Fixture.bodySize)
    let comparison = try Comparison {
        nanoseconds {
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                _ = try? Fixture.lookUp(cache, requests, bodySize: Fixture.bodySize)
            }
        } / 8000
    } against: {
        try Fixture.lookUp(cache, requests, bodySize: Fixture.bodySize)
    }
    return Row("4 threads reading", comparison, unit: .microseconds, against: "1 thread", .faster(1.6))
}
