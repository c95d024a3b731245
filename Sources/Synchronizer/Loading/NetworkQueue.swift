/// The downloads that wait for the network and those that use it, within the bounds in all and per host.
///
/// A waiting download is kept in its host's heap; the hosts that have a free slot are kept in a heap of their own, by
/// the best that waits for them. So every operation is O(log n), however many loads and hosts there are.
struct NetworkQueue: Sendable {
    struct Limits: Hashable, Sendable {
        var total: Int
        var perHost: Int

        /// Slots that speculative loads leave free while something visible is waiting or under way.
        var reserve: Int { total / 4 > 0 ? total / 4 : min(1, total - 1) }
    }

    private struct Host {
        var running = 0
        var waiting = IndexedHeap<Int, LoadRank>()
    }

    let limits: Limits
    var waste: WasteBudget
    private var hosts: [String: Host] = [:]
    private var ready = IndexedHeap<String, LoadRank>()
    /// The downloads under way, with their rank.
    private(set) var running: [Int: (host: String, rank: LoadRank, start: Int)] = [:]
    private var starts = 0
    /// How many of them are speculative: mostly none.
    private var speculative = 0

    var isIdle: Bool { hosts.isEmpty && ready.isEmpty && running.isEmpty }

    /// Whether there is room for another load, on some host.
    var mayStart: Bool { running.count < limits.total && waste.allows(running: running.count) }

    init(limits: Limits) {
        self.limits = limits
        waste = WasteBudget(total: limits.total)
    }

    mutating func wait(_ download: Int, host: String, rank: LoadRank) {
        hosts[host, default: Host()].waiting.set(download, rank: rank)
        refresh(host)
    }

    mutating func stopWaiting(_ download: Int, host: String) {
        hosts[host]?.waiting.remove(download)
        refresh(host)
    }

    /// Re-ranks a download that is under way.
    mutating func rerank(running download: Int, rank: LoadRank) {
        guard let old = running[download]?.rank else { return }
        running[download]?.rank = rank
        speculative += (rank.priority.isVisible ? 0 : 1) - (old.priority.isVisible ? 0 : 1)
    }

    /// Takes the best download that may start now; `visible` tells whether anything visible waits or is under way.
    mutating func start(whileVisible visible: Bool) -> Int? {
        guard mayStart, let host = ready.first, let rank = ready.firstRank else { return nil }
        if visible, !rank.priority.isVisible, running.count >= limits.total - limits.reserve { return nil }
        guard let download = hosts[host]?.waiting.popFirst() else { return nil }
        hosts[host]?.running += 1
        starts += 1
        running[download] = (host, rank, starts)
        if !rank.priority.isVisible { speculative += 1 }
        refresh(host)
        return download
    }

    mutating func end(_ download: Int) {
        guard let (host, rank, _) = running.removeValue(forKey: download) else { return }
        if !rank.priority.isVisible { speculative -= 1 }
        hosts[host]?.running -= 1
        refresh(host)
    }

    /// The speculative download that has to give its slot to a visible one that waits; the least urgent, then the
    /// one that began last, because it has the least to lose.
    func toPreempt() -> Int? {
        guard speculative > 0 else { return nil }
        if !mayStart, let rank = ready.firstRank, rank.priority.isVisible,
            let victim = leastUrgent(among: { _ in true })
        {
            return victim
        }
        // A host may be full of speculative loads, whether or not there is room in all.
        for host in Set(running.values.lazy.filter { !$0.rank.priority.isVisible }.map(\.host)) {
            guard let state = hosts[host], state.running >= limits.perHost,
                let rank = state.waiting.firstRank, rank.priority.isVisible
            else { continue }
            return leastUrgent { $0 == host }
        }
        return nil
    }

    private func leastUrgent(among isCandidate: (String) -> Bool) -> Int? {
        running.filter { !$0.value.rank.priority.isVisible && isCandidate($0.value.host) }
            .min {
                ($0.value.rank.priority.rawValue, -$0.value.start) < (
                    $1.value.rank.priority.rawValue, -$1.value.start
                )
            }?
            .key
    }

    private mutating func refresh(_ name: String) {
        guard let host = hosts[name] else { return }
        if host.running < limits.perHost, let rank = host.waiting.firstRank {
            ready.set(name, rank: rank)
        } else {
            ready.remove(name)
            if host.running == 0, host.waiting.isEmpty { hosts[name] = nil }
        }
    }
}
