import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("SQLiteURLCache as a URLCache", .bounded)
struct SQLiteURLCacheTests {
    @Test("a stored response is found at once, with its status, fields and body", arguments: layers)
    func storesAndFinds(_ layer: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: layer.memory, disk: layer.disk)
        let request = try Sample.request("https://example.com/a?w=100")
        let body = Sample.body(20_000, seed: 1)
        cache.storeCachedResponse(
            try Sample.cached(
                "https://example.com/a?w=100", body, status: 203, ["Content-Type": "image/png", "Etag": "x"]),
            for: request)
        for _ in 0..<3 {
            let found = try #require(cache.cachedResponse(for: request))
            let http = try #require(found.response as? HTTPURLResponse)
            #expect(found.data == body)
            #expect(http.statusCode == 203)
            #expect(http.value(forHTTPHeaderField: "ETag") == "x")
            #expect(http.mimeType == "image/png")
            #expect(http.url?.absoluteString == "https://example.com/a?w=100")
            cache.flush()
        }
    }

    @Test("the key is the whole URL with scheme and query, but without its fragment")
    func fullURL() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/a?w=100"
        cache.storeCachedResponse(try Sample.cached(url, Data([1])), for: try Sample.request(url))
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            #expect(cache.cachedResponse(for: try Sample.request("https://example.com/a?w=200")) == nil)
            #expect(cache.cachedResponse(for: try Sample.request("http://example.com/a?w=100")) == nil)
            #expect(cache.cachedResponse(for: try Sample.request("https://example.com:8080/a?w=100")) == nil)
            #expect(cache.cachedResponse(for: try Sample.request(url + "#part"))?.data == Data([1]))
        }
    }

    @Test("another process finds it", arguments: [0, 100, 1024, 1025, 64 << 10, (64 << 10) + 1, 3 << 20])
    func persists(_ size: Int) throws {
        let directory = TemporaryDirectory()
        let first = directory.cache()
        let body = Sample.body(size, seed: 2)
        let url = "https://example.com/\(size)"
        let request = try Sample.request(url)
        let record = try #require(StoredRecord(try Sample.cached(url, body), for: request, now: Date()))
        first.store(record, cached: try Sample.cached(url, body), keepsObject: true)
        first.flush()
        let second = directory.cache()
        let row = try #require(second.rows(of: url) { _ in true }.first)
        #expect(row.body == body)
        #expect(second.body(of: row.id, url: url) == body)
        #expect(row.bodySize == size)
    }

    @Test("variants by Vary are kept side by side, the newest that fits is found", arguments: layers)
    func variants(_ layer: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: layer.memory, disk: layer.disk)
        let url = "https://example.com/text"
        for language in ["de", "en", "fr"] {
            let answer = try Sample.cached(url, Data(language.utf8), ["Vary": "Accept-Language, X-None"])
            cache.storeCachedResponse(answer, for: try Sample.request(url, ["Accept-Language": language]))
        }
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            for language in ["de", "en", "fr"] {
                let found = cache.cachedResponse(for: try Sample.request(url, ["Accept-Language": language]))
                #expect(found?.data == Data(language.utf8))
            }
            #expect(cache.cachedResponse(for: try Sample.request(url, ["Accept-Language": "it"])) == nil)
            #expect(cache.cachedResponse(for: try Sample.request(url)) == nil)
        }
        cache.storeCachedResponse(try Sample.cached(url, Data("any".utf8)), for: try Sample.request(url))
        #expect(cache.cachedResponse(for: try Sample.request(url, ["Accept-Language": "de"]))?.data == Data("any".utf8))
        #expect(cache.entries(for: url).count == 4)
    }

    @Test("a response to one credential answers no other", arguments: ["Authorization", "X-Api-Key", "X-Auth-Token"])
    func credentials(name: String) throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/me"
        let mine = try Sample.request(url, [name: "Bearer mine"])
        cache.storeCachedResponse(try Sample.cached(url, Data("mine".utf8)), for: mine)
        #expect(cache.cachedResponse(for: mine)?.data == Data("mine".utf8))
        #expect(cache.cachedResponse(for: try Sample.request(url, [name: "Bearer yours"])) == nil)
        #expect(cache.cachedResponse(for: try Sample.request(url)) == nil)
        cache.storeCachedResponse(try Sample.cached(url, Data("any".utf8)), for: try Sample.request(url))
        #expect(cache.cachedResponse(for: try Sample.request(url, [name: "Bearer yours"])) == nil)
        #expect(!cache.entries(for: url).contains { "\($0.response)".contains("Bearer") })
    }

    @Test("a response that can't be looked up safely is not stored")
    func unsafe() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: 1 << 20)
        let url = "https://example.com/x"
        var withBody = try Sample.request(url, method: "POST")
        withBody.httpBody = Data([1])
        cache.storeCachedResponse(try Sample.cached(url, Data([1])), for: withBody)
        cache.storeCachedResponse(
            try Sample.cached(url, Data([1]), ["Vary": "Accept, *"]), for: try Sample.request(url))
        cache.storeCachedResponse(try Sample.cached(url, Data([1]), status: 206), for: try Sample.request(url))
        cache.storeCachedResponse(try Sample.cached(url, Data([1]), policy: .notAllowed), for: try Sample.request(url))
        #expect(cache.entries(for: url).isEmpty)
        #expect(cache.cachedResponse(for: withBody) == nil)
    }

    @Test("methods are kept apart")
    func methods() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/x"
        cache.storeCachedResponse(try Sample.cached(url, Data([1])), for: try Sample.request(url))
        cache.storeCachedResponse(try Sample.cached(url, Data()), for: try Sample.request(url, method: "HEAD"))
        #expect(cache.cachedResponse(for: try Sample.request(url))?.data == Data([1]))
        #expect(cache.cachedResponse(for: try Sample.request(url, method: "HEAD"))?.data == Data())
        #expect(cache.cachedResponse(for: try Sample.request(url, method: "POST")) == nil)
    }

    @Test("a response that is not HTTP's, and userInfo, survive", arguments: layers)
    func otherResponses(_ layer: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let url = "ftp://example.com/readme.txt"
        let request = try Sample.request(url)
        let response = URLResponse(
            url: try #require(URL(string: url)), mimeType: "text/plain", expectedContentLength: 3,
            textEncodingName: "utf-8")
        let info: [AnyHashable: Any] = [
            "list": [1, 2], "text": "ä", InjectionMark.userInfoKey: "max-age=60",
            "date": Date(timeIntervalSince1970: 5),
        ]
        let cache = directory.urlCache(memory: layer.memory, disk: layer.disk)
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data([1, 2, 3]), userInfo: info, storagePolicy: .allowed),
            for: request)
        cache.flush()
        let found = try #require(cache.cachedResponse(for: request))
        #expect(!(found.response is HTTPURLResponse))
        #expect(found.response.mimeType == "text/plain")
        #expect(found.response.textEncodingName == "utf-8")
        #expect(found.response.expectedContentLength == 3)
        #expect(found.userInfo?["list"] as? [Int] == [1, 2])
        #expect(found.userInfo?["text"] as? String == "ä")
        #expect(found.userInfo?["date"] as? Date == Date(timeIntervalSince1970: 5))
        #expect(found.userInfo?[InjectionMark.userInfoKey] as? String == "max-age=60")
        #expect(cache.entries(for: url).isEmpty)  // Fetching judges HTTP only
    }

    @Test("allowedInMemoryOnly never reaches the disk, and removes the entry that it replaces")
    func memoryOnly() throws {
        let directory = TemporaryDirectory()
        let url = "https://example.com/secret"
        let request = try Sample.request(url)
        let cache = directory.urlCache(memory: 1 << 20)
        cache.storeCachedResponse(try Sample.cached(url, Data("old".utf8)), for: request)
        cache.flush()
        let secret = try Sample.cached(url, Data("secret".utf8), policy: .allowedInMemoryOnly)
        cache.storeCachedResponse(secret, for: request)
        cache.flush()
        #expect(cache.cachedResponse(for: request)?.data == Data("secret".utf8))
        #expect(directory.cache().rows(of: url).isEmpty)
        cache.memoryCapacity = 0
        #expect(cache.cachedResponse(for: request) == nil)
    }

    @Test("one entry, all entries, or those stored since a date can be removed", arguments: layers)
    func removals(_ layer: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let clock = ManualClock()
        let cache = directory.urlCache(memory: layer.memory, disk: layer.disk, time: clock)
        let urls = (0..<4).map { "https://example.com/\($0)" }
        for url in urls {
            cache.storeCachedResponse(try Sample.cached(url, Data(url.utf8)), for: try Sample.request(url))
            clock.advance(by: 10)
        }
        func present() throws -> [Bool] { try urls.map { cache.cachedResponse(for: try Sample.request($0)) != nil } }
        cache.flush()
        #expect(try present() == [true, true, true, true])
        cache.removeCachedResponse(for: try Sample.request(urls[1]))
        #expect(try present() == [true, false, true, true])
        cache.removeCachedResponses(since: clock.now.addingTimeInterval(-15))
        #expect(try present() == [true, false, true, false])
        cache.flush()
        #expect(try present() == [true, false, true, false])
        cache.removeAllCachedResponses()
        #expect(try present() == [false, false, false, false])
        cache.flush()
        #expect(try present() == [false, false, false, false])
    }

    @Test("instances on one directory are one cache, with the capacities of the latest")
    func instances() throws {
        let directory = TemporaryDirectory()
        let one = directory.urlCache(memory: 2 << 20, disk: 16 << 20)
        let other = directory.urlCache(memory: 1 << 20, disk: 8 << 20)
        for cache in [one, other] {
            #expect((cache.memoryCapacity, cache.diskCapacity) == (1 << 20, 8 << 20))
        }
        let url = "https://example.com/x"
        one.storeCachedResponse(try Sample.cached(url, Data([1])), for: try Sample.request(url))
        #expect(other.cachedResponse(for: try Sample.request(url))?.data == Data([1]))
        other.removeAllCachedResponses()
        #expect(one.cachedResponse(for: try Sample.request(url)) == nil)
    }
}
