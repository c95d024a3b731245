/// The downloads that wait for a network slot and those that have one, within the limits in total and per host.
///
/// Each host has a heap of waiting downloads. The hosts with a free slot are in a heap too, ranked by the best download that
/// waits for them. So every operation is O(log n) in the number of loads and hosts.
struct NetworkQueue: Sendable {
    struct Limits: Hashable, Sendable {
        var total: Int
        var perHost: Int

        /// Slots that speculative loads leave free while a visible load waits or runs.
        var reserve: Int { total / 4 > 0 ? total / 4 : min(1, total - 1) }
    }

    private struct Host: Sendable {
        let name: String
        /// The downloads that have entered the host.
        var users = 0
        var running = 0
        var waiting = RecordHeap()
    }

    private struct Running: Sendable {
        let id: RecordID
        let host: RecordID
        var rank: LoadRank
    }

    let limits: Limits
    var throttle: CancellationThrottle
    private var hosts = RecordTable<Host>()
    private var hostIDs = RecordIDs()
    private var names: [String: RecordID] = [:]
    private var ready = RecordHeap()
    private var readyPlaces = RecordPlaces()
    private var waitingPlaces = RecordPlaces()
    /// The running downloads, in the order in which they started: few enough for a linear search.
    private var running: [Running] = []
    /// The number of running downloads that are speculative: usually zero.
    private var speculative = 0

    var isIdle: Bool { hosts.isEmpty && ready.isEmpty && running.isEmpty && hostIDs.isIdle && names.isEmpty }

    /// Whether the total limit and the throttle allow another download. A host may still have no free slot.
    var mayStart: Bool { running.count < limits.total && throttle.allows(running: running.count) }

    init(limits: Limits) {
        self.limits = limits
        throttle = CancellationThrottle(total: limits.total)
    }

    // MARK: - Hosts

    /// Enters a download at the host with that name, and returns the host. It is kept until every download has left.
    mutating func enter(host name: String) -> RecordID {
        let id = names[name] ?? hostIDs.take()
        if names.updateValue(id, forKey: name) == nil { hosts.insert(Host(name: name), as: id) }
        hosts.update(id) { $0.users += 1 }
        return id
    }

    mutating func leave(host id: RecordID) {
        hosts.update(id) { $0.users -= 1 }
        guard let host = hosts[id], host.users == 0 else { return }
        names[host.name] = nil
        hosts.remove(id)
        hostIDs.giveBack(id)
    }

    // MARK: - Downloads

    /// Frees the memory of the queues, when no download waits.
    mutating func releaseMemory() {
        waitingPlaces = RecordPlaces()
        if ready.isEmpty { readyPlaces = RecordPlaces() }
    }

    mutating func wait(_ download: RecordID, host: RecordID, rank: LoadRank) {
        hosts.update(host) { $0.waiting.set(download, rank: rank, in: &waitingPlaces) }
        refresh(host)
    }

    mutating func stopWaiting(_ download: RecordID, host: RecordID) {
        hosts.update(host) { $0.waiting.remove(download, in: &waitingPlaces) }
        refresh(host)
    }

    /// Changes the rank of a running download.
    mutating func rerank(running download: RecordID, rank: LoadRank) {
        guard let place = running.firstIndex(where: { $0.id == download }) else { return }
        speculative += (rank.priority.isVisible ? 0 : 1) - (running[place].rank.priority.isVisible ? 0 : 1)
        running[place].rank = rank
    }

    /// A waiting download and its rank.
    struct Waiting {
        let id: RecordID
        let rank: LoadRank
    }

    /// The best download that waits for a host with a free slot.
    var next: Waiting? { ready.first.flatMap { best(on: $0) } }

    private func best(on host: RecordID) -> Waiting? {
        guard let waiting = hosts[host]?.waiting, let id = waiting.first, let rank = waiting.firstRank else {
            return nil
        }
        return Waiting(id: id, rank: rank)
    }

    /// Starts the best download that may start now. `visible` says whether a visible load waits or runs.
    mutating func start(whileVisible visible: Bool) -> (id: RecordID, host: RecordID)? {
        guard mayStart, let host = ready.first, let rank = ready.firstRank else { return nil }
        if visible, !rank.priority.isVisible, running.count >= limits.total - limits.reserve { return nil }
        guard case let download?? = hosts.update(host, { $0.waiting.popFirst(in: &waitingPlaces) }) else { return nil }
        hosts.update(host) { $0.running += 1 }
        running.append(Running(id: download, host: host, rank: rank))
        if !rank.priority.isVisible { speculative += 1 }
        refresh(host)
        return (download, host)
    }

    mutating func end(_ download: RecordID) {
        guard let place = running.firstIndex(where: { $0.id == download }) else { return }
        let ended = running.remove(at: place)
        if !ended.rank.priority.isVisible { speculative -= 1 }
        hosts.update(ended.host) { $0.running -= 1 }
        refresh(ended.host)
    }

    /// The speculative download that must give its slot to a waiting visible one: the least urgent, and of those the one that
    /// started last, because it has the least progress to lose.
    func toPreempt(_ mayRestart: (RecordID) -> Bool, for isAllowed: (Waiting) -> Bool) -> RecordID? {
        guard speculative > 0 else { return nil }
        if !mayStart, let next, next.rank.priority.isVisible, isAllowed(next),
            let victim = leastUrgent(on: nil, mayRestart)
        {
            return victim
        }
        // All slots of a host may be speculative even if there is a free slot in total.
        for host in running.lazy.filter({ !$0.rank.priority.isVisible }).map(\.host) {
            guard let state = hosts[host], state.running >= limits.perHost,
                let next = best(on: host), next.rank.priority.isVisible, isAllowed(next),
                let victim = leastUrgent(on: host, mayRestart)
            else { continue }
            return victim
        }
        return nil
    }

    private func leastUrgent(on host: RecordID?, _ mayRestart: (RecordID) -> Bool) -> RecordID? {
        var victim: Running?
        for load in running where !load.rank.priority.isVisible && (host == nil || load.host == host) {
            if let old = victim, old.rank.priority < load.rank.priority { continue }
            guard mayRestart(load.id) else { continue }
            victim = load
        }
        return victim?.id
    }

    private mutating func refresh(_ id: RecordID) {
        guard let host = hosts[id] else { return }
        if host.running < limits.perHost, let rank = host.waiting.firstRank {
            ready.set(id, rank: rank, in: &readyPlaces)
        } else {
            ready.remove(id, in: &readyPlaces)
        }
    }
}
