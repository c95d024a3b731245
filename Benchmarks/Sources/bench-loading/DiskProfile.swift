import Counting
import Foundation
import Measuring
import Synchronizer

/// Loads from the disk alone, for a profiler and to count allocations: bench-loading --disk ROUNDS
struct DiskProfile {
    private static let count = 1_000
    private let scratch = try? Scratch()
    private let synchronizer: Synchronizer
    private let cache: SQLiteURLCache
    private let resources: [DataResource]
    private let requests: [URLRequest]

    init() throws {
        guard let scratch else { throw BenchmarkError("no directory") }
        cache = SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 1 << 30, directory: URL(fileURLWithPath: try scratch.path("cache")))
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.caching = .managed
        configuration.memoryCapacity = 0
        configuration.preferredMemoryUsage = 0
        synchronizer = Synchronizer(configuration: configuration)
        resources = (0..<Self.count).compactMap { number in
            URL(string: "http://127.0.0.1:9/image/\(number).jpg").map { DataResource(url: $0) }
        }
        requests = resources.map { $0.request() }
        let fields = [
            "Content-Type": "image/jpeg", "Content-Length": "20480", "Cache-Control": "max-age=3600",
            "ETag": "\"abcdef\"", "Date": ScriptedDate.now(), "Last-Modified": "Sat, 21 Nov 2020 02:00:00 GMT",
        ]
        for (number, request) in requests.enumerated() {
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
            else { throw BenchmarkError("no response") }
            let body = Data(repeating: UInt8(truncatingIfNeeded: number), count: 20_480)
            cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request)
        }
        cache.flush()
    }

    func run(rounds: Int) async throws {
        for _ in 0..<rounds {
            let (cacheTime, cacheAllocations) = try lookUp()
            let (time, allocations) = try await load()
            print(
                "load \(Int(time)) ns, \(allocations) allocations; cache alone \(Int(cacheTime)) ns, \(cacheAllocations)"
            )
        }
    }

    /// Allocations of one load, when the database is open.
    func allocations() async throws -> Double {
        _ = try await load()
        return try await load().1
    }

    private func load() async throws -> (Double, Double) {
        let (start, before) = (DispatchTime.now().uptimeNanoseconds, counting_allocations())
        for resource in resources {
            guard try await synchronizer.load(resource).count == 20_480 else { throw BenchmarkError("a miss") }
        }
        let time = Double(DispatchTime.now().uptimeNanoseconds - start)
        return (time / Double(Self.count), Double(counting_allocations() - before) / Double(Self.count))
    }

    private func lookUp() throws -> (Double, Double) {
        let (start, before) = (DispatchTime.now().uptimeNanoseconds, counting_allocations())
        for request in requests {
            guard cache.cachedResponse(for: request)?.data.count == 20_480 else { throw BenchmarkError("a miss") }
        }
        let time = Double(DispatchTime.now().uptimeNanoseconds - start)
        return (time / Double(Self.count), Double(counting_allocations() - before) / Double(Self.count))
    }
}

private enum ScriptedDate {
    /// The `Date` of a response that was made now.
    static func now() -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date())
    }
}
