import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import Testing

/// A store that several fetchers share, as processes do, with leases that a test can end.
final class FakeLeases: LeasingStore {
    private struct Held {
        let token: UInt64
        var isHeld = true
    }

    private struct State {
        var leases: [String: Held] = [:]
        var waiters: [Int: (key: String, handler: @Sendable (LeaseEnd) -> Void)] = [:]
        var lastWaiter = 0
        var requests = 0
        var isUnavailable = false
        var followsAnother = false
        var beforeGrant: (@Sendable () -> Void)?
    }

    let responses = FakeStore()
    /// Each process has a log of its own.
    var invalidations: InvalidationLog { InvalidationLog() }
    private let state = Locked(State())

    var held: Int { state.withLock { $0.leases.values.count { $0.isHeld } } }
    var waiting: Int { state.withLock { $0.waiters.count } }
    /// How often a lease was asked for.
    var requests: Int { state.withLock { $0.requests } }

    func becomeUnavailable() { state.withLock { $0.isUnavailable = true } }
    func grantAsIfAfterAnother() { state.withLock { $0.followsAnother = true } }

    /// Has something done before the next lease is granted.
    func beforeGrant(_ action: @escaping @Sendable () -> Void) { state.withLock { $0.beforeGrant = action } }

    func lease(_ key: String, for duration: TimeInterval) -> LeaseAnswer {
        state.withLock { $0.beforeGrant.take() }?()
        return state.withLock { state in
            state.requests += 1
            if state.isUnavailable { return .unavailable }
            if state.leases[key]?.isHeld == true { return .held }
            let token = (state.leases[key]?.token ?? 0) + 1
            state.leases[key] = Held(token: token)
            return .granted(Lease(key: key, token: token, followsAnother: state.followsAnother))
        }
    }

    func release(_ lease: Lease) { end(lease, .released) }
    func abandon(_ lease: Lease) { end(lease, .vacant) }

    private func end(_ lease: Lease, _ end: LeaseEnd) {
        let isHolder = state.withLock { state in
            guard let held = state.leases[lease.key], held.token == lease.token, held.isHeld else { return false }
            state.leases[lease.key]?.isHeld = false
            return true
        }
        if isHolder { wake(end) { $0 == lease.key } }
    }

    /// The holders die, or are too slow.
    func expire() {
        state.withLock { state in
            for key in state.leases.keys { state.leases[key]?.isHeld = false }
        }
        wake(.vacant) { _ in true }
    }

    private func wake(_ end: LeaseEnd, _ isMeant: (String) -> Bool) {
        let handlers = state.withLock { state in
            let woken = state.waiters.filter { isMeant($0.value.key) }.sorted { $0.key < $1.key }
            for (id, _) in woken { state.waiters[id] = nil }
            return woken.map(\.value.handler)
        }
        handlers.forEach { $0(end) }
    }

    func waitForRelease(
        of key: String, atMost limit: TimeInterval, then handler: @escaping @Sendable (LeaseEnd) -> Void
    ) -> @Sendable () -> Void {
        let id = state.withLock { state in
            state.lastWaiter += 1
            state.waiters[state.lastWaiter] = (key, handler)
            return state.lastWaiter
        }
        return { [state] in state.withLock { $0.waiters[id] = nil } }
    }

    /// Whether a response is stored that was requested later.
    private func hasLater(than response: StoredResponse) -> Bool {
        responses.all.contains { other in
            other.url == response.url && other.selectingFields == response.selectingFields
                && other.requestTime > response.requestTime
        }
    }

    // MARK: - ResponseStore

    func entries(for url: String) -> [StoredEntry] { responses.entries(for: url) }
    func body(of entry: StoredEntry) -> Data? { responses.body(of: entry) }
    func store(_ response: StoredResponse, as cached: CachedURLResponse) -> Int64? {
        hasLater(than: response) ? nil : responses.store(response, as: cached)
    }
    func update(_ entry: StoredEntry, to response: StoredResponse) -> Bool {
        !hasLater(than: response) && responses.update(entry, to: response)
    }
    func remove(_ entry: StoredEntry) { responses.remove(entry) }
    func removeEntries(for url: String) { responses.removeEntries(for: url) }
    func removeAll() { responses.removeAll() }
}

/// A fetcher with a network of its own, over a store that others share.
struct FakeProcess {
    static let fresh = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

    let transport = FakeTransport()
    let clock: ManualClock
    let fetcher: ManagedFetcher

    init(_ store: FakeLeases, _ clock: ManualClock, leases: RequestLeases? = RequestLeases(), rules: CacheRules) {
        self.clock = clock
        fetcher = ManagedFetcher(transport: transport, store: store, time: clock, rules: rules, leases: leases)
    }

    /// Loads as the loader does: each wait ends a fetch, and another one begins.
    func load(
        _ request: URLRequest, after waited: LeaseWait = LeaseWait(), events: Events = Events(),
        _ change: @escaping @Sendable (inout FetchOptions) -> Void = { _ in }
    ) -> Events {
        var options = FetchOptions(maximumBodySize: 1 << 20)
        options.waited = waited
        change(&options)
        let since = clock.now
        let fetch = fetcher.fetch(request, options: options) { event in
            events.note(event)
            guard case .waited(let end) = event else { return }
            var waited = waited
            waited.total += clock.now.timeIntervalSince(since)
            waited.end = end
            _ = load(request, after: waited, events: events, change)
        }
        events.fetch = fetch
        fetch.proceed()
        return events
    }
}

extension Events {
    var isOver: Bool { result != nil }
    var isStored: Bool { all.contains { if case .stored = $0 { true } else { false } } }
    var waits: Int { names.count { $0 == "waitsForLease" } }
}

/// The store and the clock of a suite of leases, and methods that create processes with them.
protocol LeaseFixture {
    var store: FakeLeases { get }
    var clock: ManualClock { get }
}

extension LeaseFixture {
    func process(_ rules: CacheRules = CacheRules(), leases: RequestLeases? = RequestLeases()) -> FakeProcess {
        FakeProcess(store, clock, leases: leases, rules: rules)
    }

    /// Processes whose servers do not answer yet.
    func processes(_ count: Int, _ rules: CacheRules = CacheRules()) -> [FakeProcess] {
        (0..<count).map { _ in
            let process = process(rules)
            process.transport.hold()
            return process
        }
    }

    func request(_ url: String = "http://a.example/x", _ change: (inout URLRequest) -> Void = { _ in }) throws
        -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: url)))
        change(&request)
        return request
    }

    func sent(_ processes: [FakeProcess]) -> [Int] { processes.map(\.transport.requests.count) }
}
