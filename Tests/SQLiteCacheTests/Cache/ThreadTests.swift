import Foundation
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// What eight threads did to one key, and when.
private final class History: Sendable {
    struct Event {
        /// The number that was stored or found; nil for nothing.
        let value: Int?
        let isWrite: Bool
        let start: UInt64
        let end: UInt64
    }

    private let events = Locked<[Event]>([])

    func record(isWrite: Bool, _ body: () -> Int?) {
        let start = DispatchTime.now().uptimeNanoseconds
        let value = body()
        let event = Event(
            value: value, isWrite: isWrite, start: start, end: DispatchTime.now().uptimeNanoseconds)
        events.withLock { $0.append(event) }
    }

    /// Reads whose value cannot have been there at any moment between their start and end: it was not yet written, or another
    /// write has certainly replaced it before.
    var impossibleReads: [Event] {
        let events = events.withLock { $0 }
        let writes = events.filter(\.isWrite)
        return events.filter { read in
            guard !read.isWrite else { return false }
            let candidates = writes.filter { $0.value == read.value && $0.start <= read.end }
            let initial = Event(value: nil, isWrite: true, start: 0, end: 0)
            let origins = read.value == nil ? candidates + [initial] : candidates
            return !origins.contains { origin in
                !writes.contains { $0.start > origin.end && $0.end < read.start && $0.value != origin.value }
            }
        }
    }
}

@Suite("The cache on many threads", .bounded)
struct ThreadTests {
    private static let keys = 6
    private static let threads = 8

    @Test(
        "for each key, eight threads see one order of stores and removals",
        arguments: [(memory: 1 << 20, disk: 64 << 20), (memory: 0, disk: 64 << 20), (memory: 20_000, disk: 64 << 20)])
    func linearisable(_ layer: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: layer.memory, disk: layer.disk)
        let histories = (0..<Self.keys).map { _ in History() }
        let requests = try (0..<Self.keys).map { try Sample.request("https://example.com/\($0)") }
        let wrong = Locked(0)
        DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
            var random = SeededGenerator(seed: UInt64(thread))
            for step in 0..<400 {
                let key = Int.random(in: 0..<Self.keys, using: &random)
                let size = [40, 3000, 20_000, 80_000].randomElement(using: &random) ?? 40
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<3:
                    histories[key].record(isWrite: true) {
                        let number = thread * 1000 + step
                        let body = StorageChurn.body(seed: 0, step: number, key: key, size: size)
                        let response = URLResponse(
                            url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: -1,
                            textEncodingName: nil)
                        cache.storeCachedResponse(
                            CachedURLResponse(response: response, data: body), for: requests[key])
                        return number
                    }
                case 3:
                    histories[key].record(isWrite: true) {
                        cache.removeCachedResponse(for: requests[key])
                        return nil
                    }
                default:
                    histories[key].record(isWrite: false) {
                        guard let found = cache.cachedResponse(for: requests[key]) else { return nil }
                        let identity = StorageChurn.identify(found.data, key: key)
                        if identity == nil { wrong.withLock { $0 += 1 } }
                        return identity?.step
                    }
                }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
        for history in histories { #expect(history.impossibleReads.isEmpty) }
    }

    @Test("everything at once on many threads: lists, updates, sweeps, capacities, statistics")
    func everythingAtOnce() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: 100_000, disk: 3 << 20)
        let urls = (0..<20).map { "https://example.com/\($0)" }
        let wrong = Locked(0)
        DispatchQueue.concurrentPerform(iterations: Self.threads) { thread in
            var random = SeededGenerator(seed: UInt64(thread) + 100)
            for step in 0..<150 {
                let key = Int.random(in: 0..<urls.count, using: &random)
                switch Int.random(in: 0..<24, using: &random) {
                case 0..<8:
                    let body = StorageChurn.body(seed: 1, step: step, key: key, size: 100 << (step % 11))
                    let response = Sample.stored(urls[key], selecting: [("Accept", "\(thread % 3)")])
                    guard let cached = try? Sample.cached(urls[key], body) else { continue }
                    cache.store(response, as: cached)
                case 8..<16:
                    for entry in cache.entries(for: urls[key]) {
                        guard let body = cache.body(of: entry) else { continue }
                        if StorageChurn.identify(body, key: key) == nil { wrong.withLock { $0 += 1 } }
                    }
                case 16..<18: cache.entries(for: urls[key]).last.map { _ = cache.update($0, to: $0.response) }
                case 18: cache.entries(for: urls[key]).first.map { cache.remove($0) }
                case 19: cache.removeCachedResponses(since: Date().addingTimeInterval(-0.001))
                case 20: _ = (cache.statistics, cache.currentDiskUsage, cache.currentMemoryUsage)
                case 21: cache.memoryCapacity = [0, 50_000, 200_000].randomElement(using: &random) ?? 0
                case 22: cache.diskCapacity = [1 << 20, 3 << 20].randomElement(using: &random) ?? 0
                default: if step % 50 == 0 { cache.removeAllCachedResponses() } else { cache.flush() }
                }
            }
        }
        #expect(wrong.withLock { $0 } == 0)
        #expect(cache.statistics.corruptEntriesDropped == 0)
    }
}
