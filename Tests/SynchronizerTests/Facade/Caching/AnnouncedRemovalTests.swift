import Foundation
import HTTPCaching
import SQLiteCache
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Removals that another process announces", .bounded)
struct AnnouncedRemovalTests {
    /// A cache that announces what a test says.
    private final class AnnouncingCache: URLCache, AnnouncingStore, @unchecked Sendable {  // its state is Locked
        private let store = FakeStore()
        let handler = Locked<(@Sendable (String?) -> Void)?>(nil)

        init() {
            super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
        }

        func onRemoval(_ handler: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void {
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
        let (cache, fetcher) = (AnnouncingCache(), FakeFetcher(nothingStored: true))
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
        cache.handler.withLock { $0 }?(isAll ? nil : "http://a.example/a")
        try await loaded.wait(for: 1)
        #expect(synchronizer.cachedObject(for: resource) == nil)
    }
}
