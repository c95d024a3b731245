import Foundation
import Synchronizer

/// The changes that a process makes to a cache without pause until it is killed. The test computes them again.
public struct StorageChurn: Sendable {
    public enum Step: Hashable, Sendable {
        case store(key: Int, size: Int)
        case remove(key: Int)
        case flush
    }

    public static let keys = 40
    public static let stepsBetweenFlushes = 50

    public let seed: UInt64

    public init(seed: UInt64) {
        self.seed = seed
    }

    /// The step of that number; they start from 1.
    public func step(_ number: Int) -> Step {
        if number % Self.stepsBetweenFlushes == 0 { return .flush }
        var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
        let key = Int.random(in: 0..<Self.keys, using: &random)
        if Int.random(in: 0..<5, using: &random) == 0 { return .remove(key: key) }
        let sizes = [40, 300, 300, 4000, 20_000, 40_000, 70_000, 150_000]
        return .store(key: key, size: sizes.randomElement(using: &random) ?? 40)
    }

    public static func request(_ key: Int) -> URLRequest? {
        URL(string: "https://example.com/churn/\(key)").map { URLRequest(url: $0) }
    }

    /// A response that is not one of HTTP.
    public static var fileResponse: URLResponse {
        URLResponse(url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    /// A body that says who it is, and that no part of another body looks like.
    public static func body(seed: UInt64, step: Int, key: Int, size: Int) -> Data {
        var body = Data(capacity: size)
        for word in [seed, UInt64(step), UInt64(key), UInt64(size)] {
            withUnsafeBytes(of: word.littleEndian) { body.append(contentsOf: $0) }
        }
        var random = SeededGenerator(seed: seed ^ UInt64(step) &* 0x9E37_79B9)
        let pattern = (0..<16).map { _ in random.next() }
        let noise = pattern.withUnsafeBytes { Data($0) }
        while body.count < size { body.append(noise.prefix(size - body.count)) }
        return body.prefix(size)
    }

    /// The seed and the step of a body. Nil unless every byte of it is right.
    public static func identify(_ body: Data, key: Int) -> (seed: UInt64, step: Int)? {
        guard body.count >= 32 else { return nil }
        let words = body.withUnsafeBytes { bytes in
            (0..<4).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
        guard words[2] == UInt64(key), words[3] == UInt64(body.count), let step = Int(exactly: words[1]) else {
            return nil
        }
        guard body == Self.body(seed: words[0], step: step, key: key, size: body.count) else { return nil }
        return (words[0], step)
    }

    /// Does the steps, on and on, and calls `flushed` with the number of each flush that has returned.
    public func run(on cache: SQLiteURLCache, flushed: (Int) -> Void) {
        var number = 0
        while true {
            number += 1
            switch step(number) {
            case .store(let key, let size): store(number, key: key, size: size, in: cache)
            case .remove(let key): Self.request(key).map { cache.removeCachedResponse(for: $0) }
            case .flush:
                cache.flush()
                flushed(number)
            }
        }
    }

    private func store(_ number: Int, key: Int, size: Int, in cache: SQLiteURLCache) {
        guard let request = Self.request(key), let url = request.url,
            let response = HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["X-Step": "\(number)"])
        else { return }
        let body = Self.body(seed: seed, step: number, key: key, size: size)
        cache.storeCachedResponse(CachedURLResponse(response: response, data: body), for: request)
    }
}
