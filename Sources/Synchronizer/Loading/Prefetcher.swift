import Foundation

/// Runs prefetches: a window of them at a time, in the order given, each as a load of low priority.
final class Prefetcher: Sendable {
    private struct Entry {
        let job: LoadJob
        let group: Int
    }

    private struct State {
        var ledger = PrefetchLedger()
        var waiting: [Entry] = []
        /// The prefetches under way, by their group.
        var running: [Int: (group: Int, identity: RequestIdentity, leave: CancelLoading)] = [:]
        var lastID = 0

        mutating func nextID() -> Int {
            lastID += 1
            return lastID
        }
    }

    private let loader: Loader
    private let state = Locked(State())

    init(loader: Loader) {
        self.loader = loader
    }

    var statistics: PrefetchStatistics { state.withLock { $0.ledger.statistics } }
    var window: Int { state.withLock { $0.ledger.window } }

    /// Queues the jobs; what it returns cancels those that are not done.
    func prefetch(_ jobs: [LoadJob]) -> CancelLoading {
        let group = state.withLock { state in
            let group = state.nextID()
            state.waiting += jobs.map { Entry(job: $0, group: group) }
            return group
        }
        startWhatMay()
        return { self.cancel(group) }
    }

    /// Somebody really asks for a resource.
    func asked(for identity: RequestIdentity) {
        state.withLock { $0.ledger.asked(for: identity) }
    }

    private func cancel(_ group: Int) {
        let leaving = state.withLock { state in
            state.waiting.removeAll { $0.group == group }
            let running = state.running.filter { $0.value.group == group }
            for id in running.keys { state.running[id] = nil }
            state.ledger.cancelled(group: group)
            return running.values.map(\.leave)
        }
        leaving.forEach { $0() }
        startWhatMay()
    }

    private func startWhatMay() {
        while let (id, entry) = next() { start(id, entry) }
    }

    private func next() -> (Int, Entry)? {
        state.withLock { state in
            guard state.running.count < state.ledger.window, !state.waiting.isEmpty else { return nil }
            let entry = state.waiting.removeFirst()
            guard let identity = entry.job.identity else { return nil }
            let id = state.nextID()
            state.running[id] = (entry.group, identity, {})
            return (id, entry)
        }
    }

    private func start(_ id: Int, _ entry: Entry) {
        let subscription = Subscription((), loader: loader)
        let receiver = LoadReceiver(isPrefetch: true) { outcome in
            guard subscription.take() != nil else { return }
            self.ended(id, outcome)
        }
        guard case .waiting(let subscriber) = loader.load(entry.job, receiver: receiver) else { return }
        subscription.joined(as: subscriber)
        let isCancelled = state.withLock { state in
            guard let running = state.running[id] else { return true }
            state.running[id] = (running.group, running.identity, { subscription.cancel() })
            return false
        }
        if isCancelled { subscription.cancel() }
    }

    private func ended(_ id: Int, _ outcome: Loader.Outcome) {
        state.withLock { state in
            guard let ended = state.running.removeValue(forKey: id), case .success(let loaded) = outcome else { return }
            state.ledger.loaded(
                ended.identity, bytes: loaded.trace.bytesReceived + loaded.trace.bytesSpared, group: ended.group)
        }
        startWhatMay()
    }
}
