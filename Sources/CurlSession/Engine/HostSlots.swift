import SynchronizerSupport

/// Decides which tasks may use a connection to a peer (an origin or a proxy), and which wait. A pure value.
///
/// libcurl could queue transfers itself. But it would start one at the moment when the last response on a connection ends, before
/// the session can see whether more bytes follow that response.
struct HostSlots<Waiter> {
    /// Concurrent transfers for each peer that does not multiplex.
    let limit: Int
    private var peers: [String: Peer] = [:]
    /// The peers without transfers that are known to speak HTTP/2.
    private var idle = LRUList<String, Void>()
    /// Their maximum number. A forgotten one counts as one of HTTP/1 until it has answered again.
    private static var maximumIdle: Int { 1000 }

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a slot, or queues `waiter` behind the waiters of the same or a higher priority.
    /// - Parameter isAlone: Whether the transfer shares no connection.
    /// - Returns: Whether it took a slot.
    mutating func take(_ peer: String, priority: Float, isAlone: Bool = false, waiter: Waiter) -> Bool {
        idle.remove(peer)
        return peers[peer, default: Peer()].take(limit: limit, priority: priority, isAlone: isAlone, waiter: waiter)
    }

    /// Gives back a slot. Call `takeNext` afterwards, until it returns nil.
    mutating func release(_ peer: String, isAlone: Bool = false) {
        peers[peer]?.inUse -= 1
        if isAlone { peers[peer]?.alone -= 1 }
    }

    /// Notes that the peer speaks HTTP/2, so that transfers share a connection. Call `takeNext` afterwards, until it returns
    /// nil.
    /// - Returns: Whether this was not known before.
    mutating func setMultiplexed(_ peer: String) -> Bool {
        guard peers[peer]?.isMultiplexed == false else { return false }
        peers[peer]?.isMultiplexed = true
        return true
    }

    func isMultiplexed(_ peer: String) -> Bool { peers[peer]?.isMultiplexed == true }

    /// Notes that a waiter has left the queue. Such waiters are removed only once they may be the majority, so that each removal
    /// takes constant time on average.
    mutating func waiterLeft(_ peer: String, hasLeft: (Waiter) -> Bool) {
        peers[peer]?.waiterLeft(hasLeft)
    }

    /// The number of waiters of a peer that have not been removed. For tests.
    func waiters(_ peer: String) -> Int { peers[peer].map { $0.waiting.count - $0.first } ?? 0 }

    /// Gives the next waiter a slot, and returns the waiter.
    mutating func takeNext(_ peer: String) -> Waiter? {
        if let next = peers[peer]?.takeNext(limit) { return next }
        if peers[peer]?.isIdle == true { becomeIdle(peer) }
        return nil
    }

    private mutating func becomeIdle(_ peer: String) {
        guard isMultiplexed(peer) else { return peers[peer] = nil }
        idle.insert((), for: peer)
        guard idle.count > Self.maximumIdle, let oldest = idle.leastRecentlyUsed else { return }
        idle.remove(oldest)
        peers[oldest] = nil
    }

    private struct Peer {
        var inUse = 0
        /// The transfers in use that share no connection.
        var alone = 0
        var isMultiplexed = false
        /// Entries before `first` have got a slot; their `waiter` is nil.
        var waiting: [(priority: Float, isAlone: Bool, waiter: Waiter?)] = []
        var first = 0
        /// The number of waiters that have left since the last removal.
        var left = 0

        var isIdle: Bool { inUse == 0 && first == waiting.count }

        /// Whether there is a free slot. If the peer multiplexes, one of the connections is for the transfers that share it.
        func hasSlot(_ limit: Int, isAlone: Bool) -> Bool {
            isMultiplexed ? !isAlone || alone < max(1, limit - 1) : inUse < limit
        }

        mutating func occupy(isAlone: Bool) {
            inUse += 1
            if isAlone { alone += 1 }
        }

        mutating func take(limit: Int, priority: Float, isAlone: Bool, waiter: Waiter) -> Bool {
            if first == waiting.count || isMultiplexed && !isAlone, hasSlot(limit, isAlone: isAlone) {
                occupy(isAlone: isAlone)
                return true
            }
            let index = waiting[first...].lastIndex { $0.priority >= priority }.map { $0 + 1 } ?? first
            waiting.insert((priority, isAlone, waiter), at: index)
            return false
        }

        mutating func waiterLeft(_ hasLeft: (Waiter) -> Bool) {
            left += 1
            guard left * 2 > waiting.count - first else { return }
            waiting.removeAll { $0.waiter.map(hasLeft) ?? true }
            (first, left) = (0, 0)
        }

        mutating func takeNext(_ limit: Int) -> Waiter? {
            guard isMultiplexed || inUse < limit,
                let index = waiting[first...].firstIndex(where: { hasSlot(limit, isAlone: $0.isAlone) })
            else { return nil }
            let next = waiting[index].waiter
            occupy(isAlone: waiting[index].isAlone)
            guard index == first else {
                waiting.remove(at: index)
                return next
            }
            waiting[first].waiter = nil
            first += 1
            if first == waiting.count || first > 1024 {
                waiting.removeFirst(first)
                first = 0
            }
            return next
        }
    }
}
