/// Decides which decodes may run and which wait: first come, first served, so that large images are not starved. A value
/// type without locks; ``DecodeBudget`` locks it and carries out its decisions.
struct AdmissionQueue {
    typealias Ticket = Int

    private(set) var used = 0
    private var waiting: [(ticket: Ticket, bytes: Int)] = []
    private var nextTicket = 0

    enum Answer: Equatable {
        case admitted
        case waits(Ticket)
    }

    /// Requests bytes. A request for more than the whole capacity is admitted when nothing else is in flight.
    mutating func ask(_ bytes: Int, of capacity: Int) -> Answer {
        if waiting.isEmpty, fits(bytes, capacity: capacity) {
            used += bytes
            return .admitted
        }
        nextTicket += 1
        waiting.append((nextTicket, bytes))
        return .waits(nextTicket)
    }

    /// Requests bytes without waiting. Returns whether they were admitted; never more than the whole capacity.
    mutating func askOnce(_ bytes: Int, of capacity: Int) -> Bool {
        guard waiting.isEmpty, used <= capacity - bytes else { return false }
        used += bytes
        return true
    }

    /// Gives bytes back. Returns the tickets that are admitted now.
    mutating func release(_ bytes: Int, of capacity: Int) -> [Ticket] {
        used -= bytes
        return admit(capacity)
    }

    /// Removes a ticket from the queue. Returns nil if it has already been admitted, so that its bytes must be released instead.
    /// Otherwise returns the tickets that are admitted now.
    mutating func leave(_ ticket: Ticket, of capacity: Int) -> [Ticket]? {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        waiting.remove(at: index)
        return admit(capacity)
    }

    private mutating func admit(_ capacity: Int) -> [Ticket] {
        var admitted: [Ticket] = []
        while let first = waiting.first, fits(first.bytes, capacity: capacity) {
            used += first.bytes
            admitted.append(first.ticket)
            waiting.removeFirst()
        }
        return admitted
    }

    private func fits(_ bytes: Int, capacity: Int) -> Bool {
        used == 0 || used <= capacity - bytes
    }
}
