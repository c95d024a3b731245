import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

/// In memory, and on the disk alone.
private let capacities: [(memory: Int, disk: Int)] = [(1 << 20, 0), (0, 1 << 20)]

@Suite("A stock URLCache behind its shield", .bounded)
struct URLCacheStoreTests {
    private func stock(_ directory: TemporaryDirectory, _ capacity: (memory: Int, disk: Int)) -> URLCache {
        URLCache(memoryCapacity: capacity.memory, diskCapacity: capacity.disk, diskPath: directory.url.path)
    }

    @Test("everything of a stored response survives", arguments: capacities)
    func roundTrip(_ capacity: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let store = URLCacheStore(stock(directory, capacity))
        let url = "https://example.com/x?y"
        var response = Sample.stored(url, selecting: [("Accept", "x")])
        response.injectedCacheControl = "max-age=5"
        let info: [AnyHashable: Any] = ["list": [1, 2], InjectionMark.userInfoKey: "max-age=5"]
        store.store(response, as: try Sample.cached(url, Data([1, 2]), userInfo: info))
        let entry = try #require(store.entries(for: url).first)
        #expect(entry.response == response)
        #expect(store.body(of: entry) == Data([1, 2]))
        #expect(store.body(of: entry) == Data([1, 2]))
    }

    @Test("the stock cache's answer for another query or scheme is not used", arguments: capacities)
    func otherURL(_ capacity: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let store = URLCacheStore(stock(directory, capacity))
        store.store(
            Sample.stored("https://example.com/x?w=1"), as: try Sample.cached("https://example.com/x?w=1", Data([1])))
        #expect(store.entries(for: "https://example.com/x?w=2").isEmpty)
        #expect(store.entries(for: "http://example.com/x?w=1").isEmpty)
        #expect(store.entries(for: "https://example.com/x?w=1").count == 1)
    }

    @Test("a response of another user of the cache is used for its own URL only, and counts as very old")
    func foreign() throws {
        let directory = TemporaryDirectory()
        let cache = stock(directory, (1 << 20, 0))
        let store = URLCacheStore(cache)
        let url = "https://example.com/x?w=1"
        cache.storeCachedResponse(try Sample.cached(url, Data([7]), ["Etag": "1"]), for: try Sample.request(url))
        #expect(store.entries(for: "https://example.com/x?w=2").isEmpty)
        let entry = try #require(store.entries(for: url).first)
        #expect(entry.response.responseTime == .distantPast)
        #expect(store.body(of: entry) == Data([7]))
        cache.removeAllCachedResponses()
        cache.storeCachedResponse(try Sample.cached(url, Data([7]), ["Vary": "Accept"]), for: try Sample.request(url))
        #expect(store.entries(for: url).isEmpty)
    }

    @Test("a response of another user of the cache gets an identifier that is not negative, like all entries")
    func foreignIdentifiers() throws {
        let directory = TemporaryDirectory()
        let cache = stock(directory, (1 << 20, 0))
        let store = URLCacheStore(cache)
        for number in 0..<64 {
            let url = "https://example.com/\(number)"
            cache.storeCachedResponse(try Sample.cached(url, Data([7])), for: try Sample.request(url))
            #expect(try #require(store.entries(for: url).first).id >= 0)
        }
    }

    @Test(
        "storing the same URLs again and again until they are evicted does not end the process", arguments: capacities)
    func eviction(_ capacity: (memory: Int, disk: Int)) throws {
        let directory = TemporaryDirectory()
        let store = URLCacheStore(stock(directory, (capacity.memory / 8, capacity.disk / 8)))
        for round in 0..<3 {
            for number in 0..<12 {
                let url = "https://example.com/\(number)"
                store.store(Sample.stored(url), as: try Sample.cached(url, Sample.body(20_000, seed: UInt64(round))))
            }
        }
        let url = "https://example.com/11"
        let entry = try #require(store.entries(for: url).first)
        #expect(store.body(of: entry) == Sample.body(20_000, seed: 2))
    }

    @Test("an entry that was replaced is neither updated, nor removed, nor read")
    func replaced() throws {
        let directory = TemporaryDirectory()
        let store = URLCacheStore(stock(directory, (1 << 20, 0)))
        let url = "https://example.com/x"
        store.store(Sample.stored(url), as: try Sample.cached(url, Data([1])))
        let old = try #require(store.entries(for: url).first)
        #expect(store.body(of: old) == Data([1]))
        store.store(Sample.stored(url), as: try Sample.cached(url, Data([2])))
        store.remove(old)
        store.update(old, to: Sample.stored(url, status: 404))
        #expect(store.body(of: old) == nil)
        let new = try #require(store.entries(for: url).first)
        #expect(new.response.status == 200)
        #expect(store.body(of: new) == Data([2]))
        var changed = new.response
        changed.fields["Etag"] = "\"1\""
        store.update(new, to: changed)
        let updated = try #require(store.entries(for: url).first)
        #expect(updated.response == changed)
        #expect(updated.id == new.id)
        #expect(store.body(of: updated) == Data([2]))
        store.removeEntries(for: url)
        #expect(store.entries(for: url).isEmpty)
    }

    @Test("an update or a removal of an older response does not concern a newer one", arguments: [false, true])
    func olderResponse(isRemoval: Bool) throws {
        let (directory, url) = (TemporaryDirectory(), "https://example.com/x")
        let store = URLCacheStore(stock(directory, (1 << 20, 0)))
        for round in 0..<2_000 {
            store.store(Sample.stored(url), as: try Sample.cached(url, Data([1])))
            let old = try #require(store.entries(for: url).first)
            let new = try Sample.cached(url, Data("\(round)".utf8))
            let threads = onThreads(2) { number in
                if number == 0 {
                    store.store(Sample.stored(url), as: new)
                } else if isRemoval {
                    store.remove(old)
                } else {
                    store.update(old, to: Sample.stored(url))
                }
            }
            threads.wait()
            let entry = try #require(store.entries(for: url).first)
            try #require(store.body(of: entry) == new.data)
        }
    }
}
