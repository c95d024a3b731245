import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Removals that wait for the disk", .bounded)
struct PendingRemovalTests {
    @Test("an invalidation during an earlier removal of its URL removes what another synchronizer has stored since")
    func removedTwice() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        let cache = ManagedCache(store: harness.store, time: harness.clock, rules: CacheRules())
        let key = "http://a.example/x"
        harness.store.afterRemoval {
            harness.load(key)
            cache.removeSoon([key])
        }
        cache.removeSoon([key])
        for _ in 1...2 { cache.removing.sync {} }  // the second removal is queued by the first
        #expect(harness.transport.requests.count == 1)
        #expect(harness.store.all.isEmpty)
    }
}
