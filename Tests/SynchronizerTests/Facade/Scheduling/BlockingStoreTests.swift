import Foundation
import HTTPCaching
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// A cache each of whose methods waits while it is closed, and notes who has come.
private final class BlockingStore: URLCache, ResponseStore, @unchecked Sendable {  // it has constants only
    struct Visits {
        var isClosed = false
        var waiting = 0
        var methods: Set<String> = []
        var onMainThread: [String] = []
    }

    private let condition = NSCondition()
    private let visits = Locked(Visits())
    private let store = FakeStore()
    var invalidations: InvalidationLog { store.invalidations }
    /// A step for each call that waits.
    let blocked = Collector<String>()

    var seen: Visits { visits.withLock { $0 } }

    func close() { visits.withLock { $0.isClosed = true } }

    func open() {
        condition.lock()
        visits.withLock { $0.isClosed = false }
        condition.broadcast()
        condition.unlock()
    }

    private func visit(_ method: String = #function) {
        let isClosed = visits.withLock { visits in
            visits.methods.insert(method)
            if Thread.isMainThread { visits.onMainThread.append(method) }
            return visits.isClosed
        }
        guard isClosed else { return }
        blocked.append(method)
        condition.lock()
        defer { condition.unlock() }
        // If the main thread waits for this one, both wait until `Scripts/test` ends the run.
        while visits.withLock({ $0.isClosed }) { condition.wait() }
    }

    func entries(for url: String) -> [StoredEntry] {
        visit()
        return store.entries(for: url)
    }

    func body(of entry: StoredEntry) -> Data? {
        visit()
        return store.body(of: entry)
    }

    func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64? {
        visit()
        return store.store(response, as: cached)
    }

    func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
        visit()
        return store.update(entry, to: response)
    }

    func remove(_ entry: StoredEntry) {
        visit()
        store.remove(entry)
    }

    func removeEntries(for url: String) {
        visit()
        store.removeEntries(for: url)
    }

    func removeAll() {
        visit()
        store.removeAll()
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        visit()
        return nil
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) { visit() }
    override func removeCachedResponse(for request: URLRequest) { visit() }
    override func removeAllCachedResponses() { visit() }
}

/// Notes where requests are sent for which nothing is stored.
private final class NotingFetcher: Fetching {
    private let base: any Fetching
    let lookUps = Collector<Bool>()
    let sentOnMainThread = Collector<Bool>()

    init(_ base: any Fetching) { self.base = base }

    func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        if options.purpose == .sendAfterMiss { sentOnMainThread.append(Thread.isMainThread) }
        let fetch = base.fetch(request, options: options, receive: receive)
        if options.purpose != .sendAfterMiss { lookUps.append(true) }
        return fetch
    }

    func removeStored(for request: URLRequest, body: String?) { base.removeStored(for: request, body: body) }
    func removeAllStored() { base.removeAllStored() }
}

@Suite("A store that blocks", .bounded)
struct BlockingStoreTests {
    private let bench: Workbench
    private let store = BlockingStore(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    private let synchronizer: Synchronizer

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer(cache: store)
        bench.server.handle("/fresh") { _ in Reply("fresh", fields: ["Cache-Control": "max-age=1000"]) }
        var tagged = Reply("tagged", fields: ["ETag": "\"1\"", "Cache-Control": "max-age=1"])
        tagged.answersConditions = true
        bench.server["/tagged"] = tagged
        bench.server.handle("/broken") { _ in Reply("no JSON", fields: ["Cache-Control": "max-age=1000"]) }
    }

    private func resource(_ path: String) -> DataResource {
        DataResource(url: bench.server.url(path))
    }

    @Test("no call on the main actor waits for it, and none of its methods is called there")
    @MainActor func mainActor() async throws {
        let known = resource("/fresh?known")
        _ = try await synchronizer.load(known)
        let answers = Collector<String>()

        store.close()
        let cancelled = synchronizer.loadResource(resource("/fresh?cancelled")) { _ in answers.append("cancelled") }
        synchronizer.loadResource(resource("/fresh?1")) { _ in answers.append("loaded") }
        try await store.blocked.wait(for: 1)
        // From here on a thread is certainly inside the store.
        #expect(synchronizer.cachedObject(for: known) != nil)
        #expect(synchronizer.cachedObject(for: resource("/fresh?1")) == nil)
        synchronizer.loadResource(known) { _ in answers.append("known") }
        #expect(answers.elements == ["known"])
        synchronizer.loadResource(resource("/fresh?1")) { _ in answers.append("loaded again") }
        let task = synchronizer.startLoading(resource("/fresh?2")) { _ in answers.append("task") }
        task.priority = .high
        synchronizer.prefetch((0..<20).map { resource("/fresh?prefetched\($0)") })
        let prefetch = synchronizer.prefetch([resource("/fresh?not")], to: .disk)
        let follow = synchronizer.followResource(resource("/fresh?followed")) { _ in answers.append("followed") }
        synchronizer.invalidate(known)
        synchronizer.invalidate(resource("/fresh?1"))
        #expect(synchronizer.cachedObject(for: known) == nil)
        synchronizer.removeAllObjects()
        cancelled()
        prefetch.cancel()
        follow()
        #expect(store.seen.isClosed)
        store.open()

        try await answers.wait(for: 4)
        #expect(Set(answers.elements) == ["known", "loaded", "loaded again", "task"])
        #expect(store.seen.onMainThread.isEmpty)
    }

    @Test("a load that takes the slot of one cancelled on the main actor is sent off the main actor, with its cookies")
    @MainActor func passedOnSlot() async throws {
        let gate = Gate()
        bench.server["/held"] = Reply("held").waiting(for: gate)
        let managed = bench.synchronizer { $0.maximumLoads = 1 }
        let fetcher = NotingFetcher(managed.fetcher)
        let synchronizer = Synchronizer(configuration: managed.configuration, fetcher: fetcher)
        let answers = Collector<String>()
        let cancel = synchronizer.loadResource(resource("/held")) { _ in answers.append("held") }
        try await gate.waitForArrivals(1)
        synchronizer.loadResource(resource("/fresh")) { _ in answers.append("fresh") }
        try await fetcher.lookUps.wait(for: 2)
        cancel()
        try await answers.wait(for: 1)
        gate.open()
        #expect(answers.elements == ["fresh"])
        #expect(!fetcher.sentOnMainThread.elements.contains(true) && !fetcher.sentOnMainThread.elements.isEmpty)
    }

    @Test("lookups, stores, revalidations and removals of loads from the main actor run off the main actor")
    @MainActor func everyMethod() async throws {
        for _ in 0..<2 {
            _ = try await synchronizer.load(resource("/fresh"))
            _ = try await synchronizer.load(resource("/tagged"))
            _ = try? await synchronizer.load(JSONResource<[Int]>(url: bench.server.url("/broken")))
            synchronizer.removeAllObjects()
            bench.clock.advance(by: 2)
        }
        synchronizer.invalidate(resource("/fresh"))
        try await waitUntil("the removal") { store.seen.methods.contains("removeEntries(for:)") }
        let expected: Set = ["entries(for:)", "body(of:)", "store(_:as:)", "update(_:to:)", "removeEntries(for:)"]
        #expect(store.seen.methods.isSuperset(of: expected), "\(store.seen.methods)")
        #expect(store.seen.onMainThread.isEmpty)
    }
}
