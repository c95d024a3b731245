import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Entries that are invalidated in native mode", .bounded)
struct NativeInvalidationTests {
    /// An entry is invalidated, and the cache has not removed it yet.
    private func harnessWithLateRemoval() -> NativeHarness {
        let harness = NativeHarness(FakeReply(200, NativeFetchTests.lifetime, "old"))
        harness.load()
        harness.session.cache.removeLate(true)
        harness.fetcher.removeStoredSoon(for: [harness.request()])
        harness.finishRemovals()
        return harness
    }

    @Test("an invalidated entry is not used before the cache has removed it")
    func invalidated() {
        let harness = harnessWithLateRemoval()
        harness.serve { _ in FakeReply(200, NativeFetchTests.lifetime, "new") }
        #expect(harness.start { $0.cachePolicy = .returnCacheDataDontLoad }.fetched == nil)
        for _ in 1...2 {
            let next = harness.load()
            #expect(next.body == "new")
            #expect(next.source == .network)
            harness.finishRemovals()
        }
        // The next lookup queues the removal of the old entry. This removes the new response, too, because the cache does not
        // distinguish them.
        harness.session.cache.removeLate(false)
        harness.fetcher.cache.removing.suspend()
        harness.load()
        harness.fetcher.cache.removing.resume()
        harness.finishRemovals()
        #expect(harness.session.cache.all.isEmpty)
        #expect(harness.load().source == .network)
        #expect(harness.load().source == .cache)
    }

    @Test("an entry that the cache has removed by itself is not awaited")
    func removedMeanwhile() {
        let harness = harnessWithLateRemoval()
        harness.session.cache.removeAllCachedResponses()
        #expect(harness.load().source == .network)
        #expect(harness.load().source == .cache)
    }

    @Test("a response that was in flight when its URL was invalidated is not stored", arguments: [false, true])
    func invalidatedInFlight(isAll: Bool) {
        let harness = NativeHarness()
        harness.session.network.hold()
        let load = harness.load()
        if isAll {
            harness.fetcher.removeAllStored()
        } else {
            harness.fetcher.removeStoredSoon(for: [harness.request()])
        }
        harness.session.network.release(FakeReply(200, NativeFetchTests.lifetime, "old"))
        #expect(load.body == "old")
        #expect(harness.session.cache.all.isEmpty)
    }

    @Test("a SQLiteURLCache knows the invalidations, but not what is removed for other reasons")
    func ownLog() {
        let (directory, clock, request) = (DisposableDirectory("native"), ManualClock(), NativeHarness().request())
        let cache = SQLiteURLCache(
            memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: directory.url, time: clock)
        let native = NativeCache(cache, time: clock)
        let (mark, key) = (cache.invalidations.now, request.cacheKey ?? "")
        native.removeSoon(request, key: key)
        native.removing.sync {}
        #expect(cache.invalidations.now == mark)
        cache.removeCachedResponse(for: request)
        #expect(native.invalidations.isInvalid(key, since: mark))
    }

    @Test("an invalidated response that a custom delegate stores is removed at the end")
    func removedAtTheEnd() {
        let harness = NativeHarness()
        harness.session.bypassesDelegate.withLock { $0 = true }
        harness.session.network.hold()
        let load = harness.load()
        harness.fetcher.removeStoredSoon(for: [harness.request()])
        harness.session.network.release(FakeReply(200, NativeFetchTests.lifetime, "old"))
        #expect(load.body == "old")
        #expect(harness.start { $0.cachePolicy = .returnCacheDataDontLoad }.fetched == nil)
        harness.finishRemovals()
        #expect(harness.session.cache.all.isEmpty)
    }

    @Test("a lookup that missed before a response was stored and invalidated does not end its removal")
    func missedBefore() {
        let harness = NativeHarness(FakeReply(200, NativeFetchTests.lifetime, "old"))
        harness.fetcher.cache.removing.suspend()
        harness.session.cache.afterLookup.withLock { action in
            action = {
                harness.load()
                harness.fetcher.removeStoredSoon(for: [harness.request()])
            }
        }
        harness.load()
        #expect(harness.start { $0.cachePolicy = .returnCacheDataDontLoad }.fetched == nil)
        harness.fetcher.cache.removing.resume()
        harness.finishRemovals()
    }

    @Test("nor does a request that is not looked up")
    func reloading() {
        let harness = harnessWithLateRemoval()
        harness.session.network.hold()
        harness.load { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        #expect(harness.start { $0.cachePolicy = .returnCacheDataDontLoad }.fetched == nil)
    }

    @Test("a response to an unsafe method invalidates the entry")
    func unsafe() {
        let harness = NativeHarness(FakeReply(200, NativeFetchTests.lifetime, "old"))
        harness.load()
        harness.session.cache.removeLate(true)
        harness.load { $0.httpMethod = "POST" }
        #expect(harness.load().source == .network)
    }
}
