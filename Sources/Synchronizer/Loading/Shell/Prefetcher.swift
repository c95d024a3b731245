import Foundation

/// Runs prefetches: a window of them at a time, in order, each as a load of low priority.
final class Prefetcher: Sendable {
    fileprivate struct Entry {
        let job: LoadJob
        let identity: CoalescingKey
        let group: Int
    }

    fileprivate struct Running {
        let identity: CoalescingKey
        let group: Int
        /// Whether a load has used it in the meantime.
        var wasAsked = false
        var leave: CancelLoading = {}
    }

    fileprivate struct State {
        var window = PrefetchWindow()
        /// The waiting entries, the next one last.
        var waiting: [Entry] = []
        /// The number of waiting entries of each resource.
        var counts: [CoalescingKey: Int] = [:]
        /// The resources that were loaded while their prefetch waited.
        var overtaken: Set<CoalescingKey> = []
        var running: [Int: Running] = [:]
        var lastID = 0
    }

    private let loader: Loader
    private let known: @Sendable (LoadJob) -> LoadedObject?
    private let state = Locked(State())

    /// - Parameter known: returns the object that a job would load, if it is in memory.
    init(loader: Loader, known: @escaping @Sendable (LoadJob) -> LoadedObject?) {
        self.loader = loader
        self.known = known
    }

    var statistics: PrefetchStatistics { state.withLock { $0.window.statistics } }
    var isIdle: Bool { state.withLock { $0.running.isEmpty && $0.waiting.isEmpty } }
    var window: Int { state.withLock { $0.window.size } }

    /// Queues the jobs; returns a closure that cancels those that have not finished.
    func prefetch(_ jobs: [LoadJob]) -> CancelLoading {
        let group = state.withLock { $0.add(jobs) }
        startNext()
        return { self.cancel(group) }
    }

    /// A caller loads the resource.
    func asked(for identity: CoalescingKey) {
        state.withLock { $0.asked(for: identity) }
    }

    private func cancel(_ group: Int) {
        let (leaving, dropped) = state.withLock { $0.cancel(group) }
        withExtendedLifetime(dropped) {}  // after unlocking: they hold the caller's resources
        leaving.forEach { $0() }
        startNext()
    }

    private func startNext() {
        while let (id, job) = state.withLock({ $0.next() }) { start(job, as: id) }
    }

    private func start(_ job: LoadJob, as id: Int) {
        let receiver = LoadReceiver(isPrefetch: true) { [self] step in
            guard case .finished(let subscriber, let result) = step, loader.take(subscriber) else { return }
            state.withLock { $0.ended(id, with: result) }
            startNext()
        }
        guard case .waiting(let subscriber) = loader.load(job, unless: { _ in known(job) }, receiver: receiver) else {
            state.withLock { $0.running[id] = nil }  // it is in memory already
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
        guard running.count < window.size, let entry = waiting.popLast() else { return nil }
        let id = nextID()
        running[id] = Prefetcher.Running(
            identity: entry.identity, group: entry.group, wasAsked: overtaken.contains(entry.identity))
        forget(entry)
        return (id, entry.job)
    }

    /// The entry no longer waits.
    private mutating func forget(_ entry: Prefetcher.Entry) {
        let left = (counts[entry.identity] ?? 1) - 1
        counts[entry.identity] = left > 0 ? left : nil
        if left <= 0 { overtaken.remove(entry.identity) }
    }

    fileprivate mutating func asked(for identity: CoalescingKey) {
        window.asked(for: identity)
        if counts[identity] != nil { overtaken.insert(identity) }
        for (id, entry) in running where entry.identity == identity { running[id]?.wasAsked = true }
    }

    fileprivate mutating func ended(_ id: Int, with result: LoadResult) {
        guard let ended = running.removeValue(forKey: id), case .success(let loaded) = result else { return }
        window.loaded(
            ended.identity, bytes: loaded.trace.bytesReceived + loaded.trace.bytesSaved, group: ended.group)
        if ended.wasAsked { window.asked(for: ended.identity) }
    }

    /// Returns what cancels the running prefetches of the group, and its waiting entries.
    fileprivate mutating func cancel(_ group: Int) -> ([CancelLoading], [Prefetcher.Entry]) {
        let dropped = waiting.filter { $0.group == group }
        dropped.forEach { forget($0) }
        waiting.removeAll { $0.group == group }
        let leaving = running.filter { $0.value.group == group }
        for id in leaving.keys { running[id] = nil }
        window.cancelled(group: group)
        return (leaving.values.map(\.leave), dropped)
    }
}
