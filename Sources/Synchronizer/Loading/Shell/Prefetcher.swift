import Foundation

/// Runs prefetches: a window of them at a time, in order, each as a load of low priority.
final class Prefetcher: Sendable {
    fileprivate struct Entry {
        let job: LoadJob
        let identity: CoalescingKey
        let group: Int
        var priority: LoadPriority
        /// The call of a hook that has queued it. Another hook may happen to start it.
        let queuedIn: HookCall?
        /// Called with the result; with nil if the prefetch is cancelled.
        let note: @Sendable (LoadResult?) -> Void
    }

    fileprivate struct Running {
        let identity: CoalescingKey
        let group: Int
        /// Whether a load has used it in the meantime.
        var isUsed = false
        var subscriber: LoadReceiver.ID?
        var priority: LoadPriority
        /// Called with the result; with nil if the prefetch is cancelled.
        let note: @Sendable (LoadResult?) -> Void
    }

    fileprivate struct State {
        var window = PrefetchWindow()
        /// The waiting entries, the next one last: ordered by priority, and within a priority by age.
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
    /// The loads that have not begun, the next one first.
    var waiting: [LoadJob] { state.withLock { $0.waiting.reversed().map(\.job) } }

    /// A group of prefetches, which are cancelled together.
    func makeGroup() -> Int { state.withLock { $0.nextID() } }

    /// Queues the jobs of a group.
    ///
    /// - Parameters:
    ///   - jobs: the loads, and their positions among the resources of the group.
    ///   - note: called once for each job, with its position, and without a result if it is cancelled.
    func prefetch(
        _ jobs: [(index: Int, job: LoadJob)], in group: Int, priority: LoadPriority,
        note: @escaping @Sendable (_ index: Int, LoadJob, LoadResult?) -> Void
    ) {
        let call = loader.hooks == nil ? nil : HookCall.current
        let entries = jobs.compactMap { index, job in
            job.identity.map { identity in
                Entry(job: job, identity: identity, group: group, priority: priority, queuedIn: call) {
                    note(index, job, $0)
                }
            }
        }
        state.withLock { $0.add(entries) }
        startNext()
    }

    /// A caller loads the resource.
    func noteUse(of identity: CoalescingKey) {
        state.withLock { $0.noteUse(of: identity) }
    }

    /// Cancels the loads of a group that have not finished.
    func cancel(_ group: Int) {
        let (running, waiting) = state.withLock { $0.cancel(group) }
        // After unlocking, because entries hold the caller's resources.
        running.compactMap(\.subscriber).forEach { loader.leave($0) }
        (running.map(\.note) + waiting.map(\.note)).forEach { $0(nil) }
        startNext()
    }

    func setPriority(_ priority: LoadPriority, of group: Int) {
        let subscribers = state.withLock { $0.setPriority(priority, of: group) }
        loader.setPriority(priority, of: subscribers)
    }

    private func startNext() {
        while let (id, entry) = state.withLock({ $0.next() }) { start(entry, as: id) }
    }

    private func start(_ entry: Entry, as id: Int) {
        let job = entry.job
        let receiver = LoadReceiver(isPrefetch: true) { [self] step in
            guard case .finished(let subscriber, let result) = step, loader.take(subscriber) else { return }
            state.withLock { $0.ended(id, with: result) }
            entry.note(result)
            startNext()
        }
        let subscriber: LoadReceiver.ID
        switch loader.load(job, unless: { _ in known(job) }, startedIn: entry.queuedIn, receiver: receiver) {
        case .waiting(let id): subscriber = id
        case .known(let loaded):
            state.withLock { $0.running[id] = nil }
            return entry.note(.success(loaded.fromMemory(at: loader.time.now, isOffline: loader.isOffline())))
        }
        // Nil if it has finished or was cancelled in the meantime.
        let priority = state.withLock { $0.started(id, as: subscriber) }
        guard let priority else {
            loader.leave(subscriber)
            return
        }
        if priority != job.priority { loader.setPriority(priority, of: [subscriber]) }
    }
}

extension Prefetcher.State {
    fileprivate mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Queues entries of one priority behind the waiting ones of the same or a higher priority.
    fileprivate mutating func add(_ entries: [Prefetcher.Entry]) {
        guard let priority = entries.first?.priority else { return }
        for entry in entries { counts[entry.identity, default: 0] += 1 }
        insert(entries.reversed(), priority: priority)
    }

    /// - Parameter entries: the next one last.
    private mutating func insert(_ entries: [Prefetcher.Entry], priority: LoadPriority) {
        let place = waiting.firstIndex { $0.priority >= priority } ?? waiting.endIndex
        waiting.insert(contentsOf: entries, at: place)
    }

    fileprivate mutating func next() -> (Int, Prefetcher.Entry)? {
        guard running.count < window.size, let entry = waiting.popLast() else { return nil }
        let id = nextID()
        running[id] = Prefetcher.Running(
            identity: entry.identity, group: entry.group, isUsed: overtaken.contains(entry.identity),
            priority: entry.priority, note: entry.note)
        forget(entry)
        return (id, entry)
    }

    /// The load has begun. Returns its priority, or nil if it has finished or was cancelled.
    fileprivate mutating func started(_ id: Int, as subscriber: LoadReceiver.ID) -> LoadPriority? {
        running[id]?.subscriber = subscriber
        return running[id]?.priority
    }

    /// Changes the priority of the group's prefetches. Returns its running loads.
    fileprivate mutating func setPriority(_ priority: LoadPriority, of group: Int) -> [LoadReceiver.ID] {
        var entries = waiting.filter { $0.group == group }
        for index in entries.indices { entries[index].priority = priority }
        waiting.removeAll { $0.group == group }
        insert(entries, priority: priority)
        for (id, load) in running where load.group == group { running[id]?.priority = priority }
        return running.values.filter { $0.group == group }.compactMap(\.subscriber)
    }

    /// The entry no longer waits.
    private mutating func forget(_ entry: Prefetcher.Entry) {
        let left = (counts[entry.identity] ?? 1) - 1
        counts[entry.identity] = left > 0 ? left : nil
        if left <= 0 { overtaken.remove(entry.identity) }
    }

    fileprivate mutating func noteUse(of identity: CoalescingKey) {
        window.noteUse(of: identity)
        if counts[identity] != nil { overtaken.insert(identity) }
        for (id, entry) in running where entry.identity == identity { running[id]?.isUsed = true }
    }

    fileprivate mutating func ended(_ id: Int, with result: LoadResult) {
        guard let ended = running.removeValue(forKey: id), case .success(let loaded) = result,
            loaded.trace.source != .memory
        else { return }
        window.loaded(
            ended.identity, bytes: loaded.trace.bytesReceived + loaded.trace.bytesSaved, group: ended.group)
        if ended.isUsed { window.noteUse(of: ended.identity) }
    }

    /// Removes the running prefetches of the group and its waiting entries, and returns both.
    fileprivate mutating func cancel(_ group: Int) -> ([Prefetcher.Running], [Prefetcher.Entry]) {
        let dropped = waiting.filter { $0.group == group }
        dropped.forEach { forget($0) }
        waiting.removeAll { $0.group == group }
        let leaving = running.filter { $0.value.group == group }
        for id in leaving.keys { running[id] = nil }
        window.cancelled(group: group)
        return (Array(leaving.values), dropped)
    }
}
