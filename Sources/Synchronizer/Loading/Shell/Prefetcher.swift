import Foundation

/// Runs prefetches: a window of them at a time, in the order given, each as a load of low priority.
final class Prefetcher: Sendable {
    fileprivate struct Entry {
        let job: LoadJob
        let identity: RequestIdentity
        let group: Int
    }

    fileprivate struct Running {
        let identity: RequestIdentity
        let group: Int
        /// Whether somebody has asked for it meanwhile.
        var wasAsked = false
        var leave: CancelLoading = {}
    }

    fileprivate struct State {
        var ledger = PrefetchLedger()
        /// Those that wait, the next one last.
        var waiting: [Entry] = []
        /// How many of those that wait are of each resource.
        var counts: [RequestIdentity: Int] = [:]
        /// What somebody has asked for while it waited.
        var overtaken: Set<RequestIdentity> = []
        var running: [Int: Running] = [:]
        var lastID = 0
    }

    private let loader: Loader
    private let known: @Sendable (LoadJob) -> LoadedObject?
    private let state = Locked(State())

    /// - Parameter known: what a job would load, if it is in memory.
    init(loader: Loader, known: @escaping @Sendable (LoadJob) -> LoadedObject?) {
        self.loader = loader
        self.known = known
    }

    var statistics: PrefetchStatistics { state.withLock { $0.ledger.statistics } }
    var isIdle: Bool { state.withLock { $0.running.isEmpty && $0.waiting.isEmpty } }
    var window: Int { state.withLock { $0.ledger.window } }

    /// Queues the jobs; what it returns cancels those that are not done.
    func prefetch(_ jobs: [LoadJob]) -> CancelLoading {
        let group = state.withLock { $0.add(jobs) }
        startWhatMay()
        return { self.cancel(group) }
    }

    /// Somebody really asks for a resource.
    func asked(for identity: RequestIdentity) {
        state.withLock { $0.asked(for: identity) }
    }

    private func cancel(_ group: Int) {
        let (leaving, dropped) = state.withLock { $0.cancel(group) }
        withExtendedLifetime(dropped) {}  // without the lock: they hold something of the caller's
        leaving.forEach { $0() }
        startWhatMay()
    }

    private func startWhatMay() {
        while let (id, job) = state.withLock({ $0.next() }) { start(id, job) }
    }

    private func start(_ id: Int, _ job: LoadJob) {
        let receiver = LoadReceiver(isPrefetch: true) { [self] subscriber, outcome in
            guard loader.take(subscriber) else { return }
            state.withLock { $0.ended(id, outcome) }
            startWhatMay()
        }
        guard case .waiting(let subscriber) = loader.load(job, unless: { _ in known(job) }, receiver: receiver) else {
            state.withLock { $0.running[id] = nil }  // there is nothing to do
            return
        }
        let leave: CancelLoading = { [loader] in loader.leave(subscriber) }
        let isCancelled = state.withLock { state in
            state.running[id]?.leave = leave
            return state.running[id] == nil
        }
        if isCancelled { leave() }
    }
}

extension Prefetcher.State {
    fileprivate mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    fileprivate mutating func add(_ jobs: [LoadJob]) -> Int {
        let group = nextID()
        let entries = jobs.compactMap { job in
            job.identity.map { Prefetcher.Entry(job: job, identity: $0, group: group) }
        }
        for entry in entries { counts[entry.identity, default: 0] += 1 }
        waiting.insert(contentsOf: entries.reversed(), at: 0)
        return group
    }

    fileprivate mutating func next() -> (Int, LoadJob)? {
        guard running.count < ledger.window, let entry = waiting.popLast() else { return nil }
        let id = nextID()
        running[id] = Prefetcher.Running(
            identity: entry.identity, group: entry.group, wasAsked: overtaken.contains(entry.identity))
        forget(entry)
        return (id, entry.job)
    }

    /// The entry does not wait any more.
    private mutating func forget(_ entry: Prefetcher.Entry) {
        let left = (counts[entry.identity] ?? 1) - 1
        counts[entry.identity] = left > 0 ? left : nil
        if left <= 0 { overtaken.remove(entry.identity) }
    }

    fileprivate mutating func asked(for identity: RequestIdentity) {
        ledger.asked(for: identity)
        if counts[identity] != nil { overtaken.insert(identity) }
        for (id, entry) in running where entry.identity == identity { running[id]?.wasAsked = true }
    }

    fileprivate mutating func ended(_ id: Int, _ outcome: Loader.Outcome) {
        guard let ended = running.removeValue(forKey: id), case .success(let loaded) = outcome else { return }
        ledger.loaded(
            ended.identity, bytes: loaded.trace.bytesReceived + loaded.trace.bytesSaved, group: ended.group)
        if ended.wasAsked { ledger.asked(for: ended.identity) }
    }

    /// What ends the prefetches of the group that are under way, and those that have not begun.
    fileprivate mutating func cancel(_ group: Int) -> ([CancelLoading], [Prefetcher.Entry]) {
        let dropped = waiting.filter { $0.group == group }
        dropped.forEach { forget($0) }
        waiting.removeAll { $0.group == group }
        let leaving = running.filter { $0.value.group == group }
        for id in leaving.keys { running[id] = nil }
        ledger.cancelled(group: group)
        return (leaving.values.map(\.leave), dropped)
    }
}
