import Foundation
import Measuring
import Synchronizer

/// Responses as a server gives them, and caches that are full of them.
enum Fixture {
    static let bodySize = 20_480

    /// What a server behind a content-delivery network sends with a photograph.
    static let fields = [
        "Server": "nginx/1.22.1", "Date": "Sat, 21 Nov 2026 03:00:00 GMT", "Content-Type": "image/jpeg",
        "Content-Length": "20480", "Last-Modified": "Sat, 21 Nov 2026 02:00:00 GMT", "ETag": "\"6740a1f0-5000\"",
        "Cache-Control": "public, max-age=86400", "X-Content-Type-Options": "nosniff",
        "X-Request-Id": "7c1d6f1e-52a5-4d1b-9f7e-0c9b5b1d4a30", "X-Served-By": "cache-fra-eddf8230061-FRA",
        "Access-Control-Allow-Origin": "*", "Timing-Allow-Origin": "*", "Accept-Ranges": "bytes",
    ]
    static let fewFields = ["Content-Type": "text/plain", "Cache-Control": "max-age=86400"]

    static func request(_ number: Int) throws -> URLRequest {
        guard let url = URL(string: "http://127.0.0.1:8080/images/photo-\(number).jpg") else {
            throw BenchmarkError("no URL")
        }
        return URLRequest(url: url)
    }

    static func requests(_ numbers: Range<Int>) throws -> [URLRequest] {
        try numbers.map(request)
    }

    /// Requests for so many entries of `entries`, in an order that has nothing to do with that of storing. They lie in
    /// memory in that order: what is measured is not how the caller finds its requests.
    static func scattered(_ count: Int, of entries: Int, from first: Int = 0) throws -> [URLRequest] {
        try (first..<first + count).map { try request($0 &* 7919 % entries) }
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

    static func response(
        to request: URLRequest, _ body: Data, _ fields: [String: String] = fields
    ) throws -> CachedURLResponse {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
        else { throw BenchmarkError("no response") }
        return CachedURLResponse(response: response, data: body)
    }

    static func cache(_ directory: String, memory: Int = 0, disk: Int = 64 << 30) -> SQLiteURLCache {
        SQLiteURLCache(
            memoryCapacity: memory, diskCapacity: disk, directory: URL(fileURLWithPath: directory, isDirectory: true))
    }

    /// Stores entries of these numbers; on return they are on the disk.
    static func fill(
        _ cache: URLCache, _ numbers: Range<Int>, bodySize: Int, _ fields: [String: String] = fields
    ) throws {
        for number in numbers {
            let request = try request(number)
            cache.storeCachedResponse(try response(to: request, body(bodySize, seed: number), fields), for: request)
        }
        (cache as? SQLiteURLCache)?.flush()
    }

    /// Looks up each of them; nanoseconds for one.
    static func lookUp(_ cache: URLCache, _ requests: some Collection<URLRequest>, bodySize: Int) throws -> Double {
        var bytes = 0
        let time = nanoseconds {
            for request in requests { bytes += cache.cachedResponse(for: request)?.data.count ?? 0 }
        }
        guard bytes == requests.count * bodySize else { throw BenchmarkError("found \(bytes) bytes") }
        return time / Double(requests.count)
    }

    /// Looks up each of them, and has the response made, with all its fields; nanoseconds for one.
    static func lookUpWhole(_ cache: URLCache, _ requests: [URLRequest]) throws -> Double {
        var found = 0
        let time = nanoseconds {
            for request in requests {
                let response = cache.cachedResponse(for: request)?.response as? HTTPURLResponse
                if response?.statusCode == 200 { found += 1 }
            }
        }
        guard found == requests.count, let last = requests.last,
            let response = cache.cachedResponse(for: last)?.response as? HTTPURLResponse,
            fields.allSatisfy({ response.value(forHTTPHeaderField: $0.key) == $0.value })
        else { throw BenchmarkError("found \(found) of \(requests.count)") }
        return time / Double(requests.count)
    }

    /// Makes a response to each of them, and nothing else; nanoseconds for one.
    static func makeResponses(_ requests: [URLRequest]) throws -> Double {
        var made = 0
        let time = nanoseconds {
            for case let url? in requests.lazy.map(\.url) {
                let response = HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
                if response?.statusCode == 200 { made += 1 }
            }
        }
        guard made == requests.count else { throw BenchmarkError("made \(made) of \(requests.count)") }
        return time / Double(requests.count)
    }

    /// Of all that a yardstick of C has done, one.
    static func each(_ total: Int64, _ count: Int) throws -> Double {
        guard total >= 0 else { throw BenchmarkError("a yardstick failed") }
        return Double(total) / Double(count)
    }
}
