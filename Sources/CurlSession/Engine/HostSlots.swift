/// Who may use a connection to which origin, and who waits. Pure.
///
/// libcurl could queue transfers itself, but would start one on a connection in the moment in which the connection's last
/// response ends, before the session can see whether more bytes follow that response.
struct HostSlots<Waiter> {
    private struct Origin {
        var inUse = 0
        var isMultiplexed = false
        var waiting: [(priority: Float, waiter: Waiter)] = []
        var first = 0
    }

    /// Concurrent transfers for each origin.
    let limit: Int
    private var origins: [String: Origin] = [:]

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// Takes a slot, or queues `waiter` behind those of the same or a higher priority.
    mutating func take(_ origin: String, priority: Float, waiter: @autoclosure () -> Waiter) -> Bool {
        guard hasRoom(origins[origin, default: Origin()]) else {
            origins[origin, default: Origin()].enqueue(waiter(), priority)
            return false
        }
        origins[origin, default: Origin()].inUse += 1
        return true
    }

    /// Gives back a slot; returns who takes it over.
    mutating func release(_ origin: String) -> Waiter? {
        origins[origin]?.inUse -= 1
        return takeNext(origin)
    }

    /// The origin speaks HTTP/2, so that all transfers share a connection; call `takeNext` until it returns nil.
    mutating func setMultiplexed(_ origin: String) {
        origins[origin]?.isMultiplexed = true
    }

    /// The next waiter, which now has a slot.
    mutating func takeNext(_ origin: String) -> Waiter? {
        guard var entry = origins[origin] else { return nil }
        guard hasRoom(entry), let next = entry.dequeue() else {
            if entry.inUse == 0, !entry.isMultiplexed { origins[origin] = nil }
            return nil
        }
        entry.inUse += 1
        origins[origin] = entry
        return next
    }

    private func hasRoom(_ origin: Origin) -> Bool { origin.isMultiplexed || origin.inUse < limit }
}

extension HostSlots.Origin {
    mutating func enqueue(_ waiter: Waiter, _ priority: Float) {
        let index = waiting[first...].lastIndex { $0.priority >= priority }.map { $0 + 1 } ?? first
        waiting.insert((priority, waiter), at: index)
    }

    mutating func dequeue() -> Waiter? {
        guard first < waiting.count else { return nil }
        defer {
            first += 1
            if first > 64, first > waiting.count / 2 {
                waiting.removeFirst(first)
                first = 0
            }
        }
        return waiting[first].waiter
    }
}
