import Foundation
import HTTPCaching
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("SQLiteURLCache as a response store", .bounded)
struct ResponseStoreTests {
    @Test("everything of a stored response survives the disk")
    func roundTrip() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/x"
        var response = Sample.stored(
            url, [("Set-Cookie", "a"), ("Set-Cookie", "b"), ("Etag", "\"é\"")], selecting: [("Accept", "x")])
        response.part = StoredResponse.Part(range: 5..<9, completeLength: 100)
        response.injectedCacheControl = "max-age=5"
        cache.store(response, as: try Sample.cached(url, Data([1, 2, 3, 4])))
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            let entry = try #require(cache.entries(for: url).first)
            #expect(entry.response == response)
            #expect(entry.bodySize == 4)
            #expect(cache.body(of: entry) == Data([1, 2, 3, 4]))
        }
    }

    @Test("the responses of a URL can be read without a use or a miss")
    func responses() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/x"
        for language in ["de", "fr"] {
            let response = Sample.stored(url, selecting: [("Accept-Language", language)])
            cache.store(response, as: try Sample.cached(url, Data([1])))
        }
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            let languages = cache.responses(of: url).map { $0.selectingFields["Accept-Language"] }
            #expect(Set(languages) == ["de", "fr"])
            #expect(cache.responses(of: url + "y").isEmpty)
        }
        #expect(cache.statistics.hits == 0 && cache.statistics.misses == 0)
    }

    @Test("users of URLCache never get a part")
    func parts() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        var response = Sample.stored("https://example.com/x", status: 206)
        response.part = StoredResponse.Part(range: 0..<1, completeLength: nil)
        cache.store(response, as: try Sample.cached("https://example.com/x", Data([1])))
        #expect(cache.cachedResponse(for: try Sample.request("https://example.com/x")) == nil)
    }

    @Test("an update keeps the body and changes the rest", arguments: layers)
    func updates(_ layer: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache(memory: layer.memory, disk: layer.disk)
        let url = "https://example.com/x"
        for size in [10, 200_000] {
            let body = Sample.body(size, seed: 3)
            cache.store(Sample.stored(url), as: try Sample.cached(url, body))
            cache.flush()
            let entry = try #require(cache.entries(for: url).first)
            var changed = entry.response
            changed.fields["Etag"] = "\"2\""
            cache.update(entry, to: changed)
            for isFlushed in [false, true] {
                if isFlushed { cache.flush() }
                let found = try #require(cache.entries(for: url).first)
                #expect(found.response == changed)
                #expect(found.id == entry.id)
                #expect(cache.body(of: found) == body)
            }
        }
    }

    @Test("an update of a removed entry does nothing")
    func updateOfNothing() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/x"
        cache.store(Sample.stored(url), as: try Sample.cached(url, Data([1])))
        let entry = try #require(cache.entries(for: url).first)
        cache.remove(entry)
        cache.update(entry, to: entry.response)
        #expect(cache.entries(for: url).isEmpty)
        cache.flush()
        #expect(cache.entries(for: url).isEmpty)
        #expect(cache.body(of: entry) == nil)
    }

    @Test("a store replaces the same variant and no other")
    func replacement() throws {
        let directory = TemporaryDirectory()
        let cache = directory.urlCache()
        let url = "https://example.com/x"
        cache.store(Sample.stored(url, selecting: [("Accept", "a")]), as: try Sample.cached(url, Data([1])))
        cache.store(Sample.stored(url, selecting: [("Accept", "b")]), as: try Sample.cached(url, Data([2])))
        cache.flush()
        cache.store(Sample.stored(url, selecting: [("accept", "a")]), as: try Sample.cached(url, Data([3])))
        for isFlushed in [false, true] {
            if isFlushed { cache.flush() }
            let bodies = cache.entries(for: url).map { cache.body(of: $0) }
            #expect(bodies == [Data([3]), Data([2])])
        }
    }
}
