import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("The entries of a cache", .bounded)
struct EntriesTests {
    private let disposable = DisposableDirectory("entries")
    private let clock = ManualClock()

    private func cache(disk: Int = 64 << 20) -> SQLiteURLCache {
        SQLiteURLCache(memoryCapacity: 4 << 20, diskCapacity: disk, directory: disposable.url, time: clock)
    }

    private func store(_ path: String, _ fields: [String: String] = [:], size: Int = 10, in cache: SQLiteURLCache)
        throws
    {
        let url = try #require(URL(string: "https://example.com/\(path)"))
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
        cache.storeCachedResponse(
            CachedURLResponse(response: head, data: Data(repeating: 7, count: size)), for: URLRequest(url: url))
    }

    private func all(_ cache: SQLiteURLCache) async -> [SQLiteURLCache.Entry] {
        var entries: [SQLiteURLCache.Entry] = []
        for await entry in cache.entries { entries.append(entry) }
        return entries
    }

    @Test("are all that was stored, in order, over many pages")
    func pages() async throws {
        let cache = cache()
        for number in 0..<600 { try store("\(number)", in: cache) }
        #expect(await all(cache).map(\.url) == (0..<600).map { "https://example.com/\($0)" })
    }

    @Test("say what is known of each response")
    func facts() async throws {
        let cache = cache()
        try store("a", ["Cache-Control": "max-age=60", "ETag": "\"1\""], size: 3000, in: cache)
        let entry = try #require(await all(cache).first)
        #expect((entry.method, entry.status, entry.size) == ("GET", 200, 3000))
        #expect(entry.value(forHTTPHeaderField: "etag") == "\"1\"" && entry.selectingHeaders.isEmpty)
        #expect(entry.stored == clock.now && entry.lastUse == clock.now)
        #expect(entry.remainingLifetime(at: clock.now + 20) == 40)
        #expect(entry.remainingLifetime(at: clock.now + 70) == -10)
    }

    @Test("are none in an empty cache")
    func empty() async {
        #expect(await all(cache()).isEmpty)
    }

    @Test("include those of a cache without a disk")
    func memory() async throws {
        let cache = cache(disk: 0)
        try store("a", in: cache)
        let entries = await all(cache)
        #expect(entries.map(\.url) == ["https://example.com/a"] && entries.first?.lastUse == nil)
    }

    @Test("leave out what is removed before their page is read")
    func removed() async throws {
        let cache = cache()
        for number in 0..<300 { try store("\(number)", in: cache) }
        var iterator = cache.entries.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.url == "https://example.com/0")
        cache.removeAllCachedResponses()
        cache.flush()
        var later = 0
        while await iterator.next() != nil { later += 1 }
        #expect(later < 299)
        #expect(await all(cache).isEmpty)
    }

    @Test("end when the task is cancelled")
    func cancelled() async throws {
        let cache = cache()
        try store("a", in: cache)
        let task = Task { [cache] in
            withUnsafeCurrentTask { $0?.cancel() }
            return await all(cache).count
        }
        #expect(await task.value == 0)
    }
}
