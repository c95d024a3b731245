import Foundation
import Synchronizer
import ValkeyCache

#if Valkey && canImport(CHiredis)
    /// What a hit costs in the shared level, beside a bare GET by redis-benchmark, and in the local level, beside a
    /// `SQLiteURLCache` alone: 20 KB, in turns.
    enum SharedCost {
        private static let (rounds, hits) = (9, 1000)

        static func printTable(socket: String, directory: String) throws {
            let place = URL(fileURLWithPath: directory, isDirectory: true)
            let url = "unix://\(socket)"
            let nothing = SQLiteURLCache(
                memoryCapacity: 0, diskCapacity: 0, directory: place.appendingPathComponent("none"))
            let shared = try ValkeyURLCache(server: url, namespace: "shared", local: nothing)
            try row("a hit in the shared level", shared, "redis-benchmark GET") { try redisBenchmark(socket) }
            for memory in [0, 16 << 20] {
                let name = memory == 0 ? "disk" : "memory"
                let local = { (name: String) in
                    SQLiteURLCache(
                        memoryCapacity: memory, diskCapacity: 64 << 20, directory: place.appendingPathComponent(name))
                }
                let cache = try ValkeyURLCache(server: url, namespace: name, local: local("front \(name)"))
                let alone = local("alone \(name)")
                try fill(alone)
                alone.flush()
                try row("a hit in the local level, \(name)", cache, "SQLiteURLCache alone") { try time(alone) }
            }
        }

        private static func row(
            _ name: String, _ cache: ValkeyURLCache, _ other: String, _ measure: () throws -> Double
        ) throws {
            while !cache.statistics.isConnected { usleep(1000) }
            try fill(cache)
            cache.flush()
            _ = try (time(cache), measure())
            let pairs = try (0..<rounds).map { _ in (try time(cache), try measure()) }
            let median = { (values: [Double]) in values.sorted()[rounds / 2] }
            say(
                name
                    + String(
                        format: ": %.1f µs; %@ %.1f µs; %.2f times", median(pairs.map(\.0)), other,
                        median(pairs.map(\.1)), median(pairs.map { $0.0 / $0.1 })))
        }

        private static func request() throws -> URLRequest {
            guard let url = URL(string: "https://example.com/item") else { throw URLError(.badURL) }
            return URLRequest(url: url)
        }

        private static func fill(_ cache: URLCache) throws {
            let request = try request()
            guard let url = request.url,
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1",
                    headerFields: ["Cache-Control": "max-age=600", "Content-Type": "image/jpeg", "ETag": "\"1\""])
            else { throw URLError(.badURL) }
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data(repeating: 7, count: 20_000)), for: request)
        }

        /// Microseconds of a hit.
        private static func time(_ cache: URLCache) throws -> Double {
            let request = try request()
            let start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<hits {
                guard cache.cachedResponse(for: request)?.data.count == 20_000 else {
                    throw URLError(.cannotDecodeRawData)
                }
            }
            return Double(DispatchTime.now().uptimeNanoseconds - start) / 1000 / Double(hits)
        }

        /// Microseconds of a GET on one connection.
        private static func redisBenchmark(_ socket: String) throws -> Double {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/redis-benchmark")
            process.arguments = [
                "-s", socket, "-t", "set,get", "-d", "20000", "-n", "\(hits)", "-c", "1", "--csv",
            ]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let line = text.split(separator: "\n").first { $0.hasPrefix("\"GET\"") }
            let rate = line?.split(separator: ",").dropFirst().first.flatMap { Double($0.filter { $0 != "\"" }) }
            guard let rate, rate > 0 else { throw URLError(.cannotParseResponse) }
            return 1e6 / rate
        }
    }
#endif
