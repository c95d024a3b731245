import Foundation

/// Gives connections slots to send in, one after another, so that all together keep to a bandwidth. Pure.
struct Throttle {
    private var bucket: TokenBucket?
    private var waiting: [Connection.Ticket] = []
    private var holder: Int?
    private var isScheduled = false

    /// Sets or lifts the limit; returns the connections that may send at once.
    mutating func set(bytesPerSecond: Int?, now: TimeInterval) -> [Connection.Ticket] {
        bucket = bytesPerSecond.map { TokenBucket(bytesPerSecond: $0, now: now) }
        guard bucket == nil else { return [] }
        defer { waiting = [] }
        return waiting
    }

    /// How many bytes a connection may send now. Connections that have waited longer send first.
    mutating func allowance(for wanted: Int, connection: Int, now: TimeInterval) -> Int {
        guard bucket != nil else { return wanted }
        guard waiting.isEmpty || holder == connection else { return 0 }
        holder = nil
        return bucket?.allowance(for: wanted, now: now) ?? wanted
    }

    mutating func spend(_ bytes: Int) {
        bucket?.spend(bytes)
    }

    mutating func queue(_ ticket: Connection.Ticket) {
        waiting.append(ticket)
    }

    /// The time of the next slot. Nil if no connection waits, or if the slot is already scheduled.
    mutating func nextSlot() -> TimeInterval? {
        guard let bucket, !waiting.isEmpty, !isScheduled else { return nil }
        isScheduled = true
        return bucket.nextSlot
    }

    mutating func slotBegins() {
        isScheduled = false
    }

    /// The connection that gets the slot. Nil if none waits, or if the bandwidth is used up.
    mutating func next(now: TimeInterval) -> Connection.Ticket? {
        guard !waiting.isEmpty, let size = bucket?.slotSize, let share = bucket?.allowance(for: size, now: now),
            share > 0
        else { return nil }
        let ticket = waiting.removeFirst()
        holder = ticket.connection
        return ticket
    }
}
