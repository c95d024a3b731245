import Foundation
import HTTPCaching
import SQLiteCache
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Changes that another process announces", .bounded)
struct AnnouncedRemovalTests {
    /// A cache that announces what a test says.
    private final class AnnouncingCache: URLCache, AnnouncingStore, @unchecked Sendable {  // its state is Locked
        private let store = FakeStore()
        let handler = Locked<(@Sendable (AnnouncedChange) -> Void)?>(nil)

        static func make() -> AnnouncingCache {
            AnnouncingCache(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
        }

        func onChange(_ handler: @escaping @Sendable (AnnouncedChange) -> Void) -> @Sendable () -> Void {
            self.handler.withLock { $0 = handler }
            return {}
        }

        var invalidations: InvalidationLog { store.invalidations }
        func entries(for url: String) -> [StoredEntry] { store.entries(for: url) }
        func body(of entry: StoredEntry) -> Data? { store.body(of: entry) }
        func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64? {
            store.store(response, as: cached)
        }
        func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool { store.update(entry, to: response) }
        func remove(_ entry: StoredEntry) { store.remove(entry) }
        func removeEntries(for url: String) { store.removeEntries(for: url) }
        func removeAll() { store.removeAll() }
    }

    /// Does something when it leaves memory.
    private final class Leaving: Sendable {
        private let action: @Sendable () -> Void

        init(_ action: @escaping @Sendable () -> Void) { self.action = action }

        deinit { action() }
    }

    private struct LeavingResource: Resource {
        let url: URL
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Leaving { { _ in Leaving {} } }
    }

    @Test("an object that is parsed while memory is being emptied is not kept", arguments: [false, true])
    func parsedMeanwhile(isAll: Bool) async throws {
        let (cache, fetcher) = (AnnouncingCache.make(), FakeFetcher(nothingStored: true))
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.time = ManualClock()
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        let url = try #require(URL(string: "http://a.example/a"))
        let resource = DataResource(url: url)
        let loaded = Collector<Bool>()
        synchronizer.loadResource(resource, on: .global()) { _ in loaded.append(true) }
        var fetch: FakeFetch?
        try await waitUntil("its request was sent") {
            fetch = fetcher.take("/a")
            return fetch != nil
        }
        let other = LeavingResource(url: url)
        synchronizer.insert(Leaving { [fetch] in fetch?.finish(freshUntil: .distantFuture) }, for: other)
        cache.handler.withLock { $0 }?(isAll ? .removedAll : .removed(url: "http://a.example/a"))
        try await loaded.wait(for: 1)
        #expect(synchronizer.cachedObject(for: resource) == nil)
    }

    @Test("an object whose response was replaced is not kept, and loads still coalesce with one in flight")
    func replaced() async throws {
        let (cache, fetcher) = (AnnouncingCache.make(), FakeFetcher(nothingStored: true))
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.time = ManualClock()
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        let resource = DataResource(url: try #require(URL(string: "http://a.example/a")))
        let loaded = Collector<Bool>()
        let announce = {
            cache.handler.withLock { $0 }?(.changed(url: "http://a.example/a"))
        }
        synchronizer.loadResource(resource, on: .global()) { _ in loaded.append(true) }
        var fetch: FakeFetch?
        try await waitUntil("its request was sent") {
            fetch = fetcher.take("/a")
            return fetch != nil
        }
        announce()
        synchronizer.loadResource(resource, on: .global()) { _ in loaded.append(true) }
        fetch?.finish(freshUntil: .distantFuture)
        try await loaded.wait(for: 2)
        #expect(fetcher.take("/a") == nil && synchronizer.cachedObject(for: resource) != nil)
        announce()
        #expect(synchronizer.cachedObject(for: resource) == nil)
    }
}
