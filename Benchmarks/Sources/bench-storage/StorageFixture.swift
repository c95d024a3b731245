import Foundation
import Measuring
import Synchronizer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Responses as a server gives them, and caches that are full of them.
enum Fixture {
    static let bodySize = 20_480

    static let fields = [
        "Server": "nginx/1.22.1", "Date": "Sat, 21 Nov 2026 03:00:00 GMT", "Content-Type": "image/jpeg",
        "Content-Length": "20480", "Last-Modified": "Sat, 21 Nov 2026 02:00:00 GMT", "ETag": "\"6740a1f0-5000\"",
        "Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff",
        "X-Request-Id": "7c1d6f1e-52a5-4d1b-9f7e-0c9b5b1d4a30", "X-Served-By": "cache-fra-eddf8230061-FRA",
        "Access-Control-Allow-Origin": "*", "Timing-Allow-Origin": "*", "Accept-Ranges": "bytes",
    ]

    static func request(_ number: Int) throws -> URLRequest {
        guard let url = URL(string: "http://127.0.0.1:8080/images/photo-\(number).jpg") else {
            throw BenchmarkError("no URL")
        }
        return URLRequest(url: url)
    }

    static func requests(_ count: Int) throws -> [URLRequest] {
        try (0..<count).map(request)
    }

    static func body(_ size: Int, seed: Int) -> Data {
        var bytes = [UInt8](repeating: 0, count: size)
        var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15
        for index in bytes.indices {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[index] = UInt8(truncatingIfNeeded: state >> 56)
        }
        return Data(bytes)
    }

    static func response(to request: URLRequest, _ body: Data) throws -> CachedURLResponse {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else { throw BenchmarkError("no response") }
        return CachedURLResponse(response: response, data: body)
    }

    static func cache(_ directory: String, memory: Int = 0, disk: Int = 8 << 30) -> SQLiteURLCache {
        SQLiteURLCache(
            memoryCapacity: memory, diskCapacity: disk, directory: URL(fileURLWithPath: directory, isDirectory: true))
    }

    static func fill(_ cache: URLCache, _ requests: [URLRequest], bodySize: Int) throws {
        for (number, request) in requests.enumerated() {
            cache.storeCachedResponse(try response(to: request, body(bodySize, seed: number)), for: request)
        }
        (cache as? SQLiteURLCache)?.flush()
    }

    /// Looks all of them up, in a scattered order; nanoseconds for one.
    static func lookUp(_ cache: URLCache, _ requests: [URLRequest], bodySize: Int, count: Int? = nil) throws -> Double {
        let count = count ?? requests.count
        var bytes = 0
        let time = nanoseconds {
            for index in 0..<count {
                bytes += cache.cachedResponse(for: requests[index &* 7919 % requests.count])?.data.count ?? 0
            }
        }
        guard bytes == count * bodySize else { throw BenchmarkError("looked up \(bytes) bytes of \(count * bodySize)") }
        return time / Double(count)
    }
}
