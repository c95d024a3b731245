/// Who may decode now, and who waits: first come, first served, so that large images get their turn too.
///
/// A value that decides; ``DecodeBudget`` performs.
struct AdmissionQueue {
    typealias Ticket = Int

    private(set) var used = 0
    private var waiting: [(ticket: Ticket, bytes: Int)] = []
    private var nextTicket = 0

    enum Answer: Equatable {
        case admitted
        case waits(Ticket)
    }

    /// Asks for bytes. What is more than everything is admitted when nothing else is under way.
    mutating func ask(_ bytes: Int, of capacity: Int) -> Answer {
        if waiting.isEmpty, fits(bytes, capacity) {
            used += bytes
            return .admitted
        }
        nextTicket += 1
        waiting.append((nextTicket, bytes))
        return .waits(nextTicket)
    }

    /// Asks for bytes that are of use only now.
    mutating func askOnce(_ bytes: Int, of capacity: Int) -> Bool {
        guard waiting.isEmpty, used <= capacity - bytes else { return false }
        used += bytes
        return true
    }

    /// Gives bytes back, and says whose turn it is now.
    mutating func release(_ bytes: Int, of capacity: Int) -> [Ticket] {
        used -= bytes
        return admit(capacity)
    }

    /// Leaves the queue. Nil if that ticket has been admitted already, and its bytes are to be released instead;
    /// otherwise whose turn it is now.
    mutating func leave(_ ticket: Ticket, of capacity: Int) -> [Ticket]? {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
        waiting.remove(at: index)
        return admit(capacity)
    }

    private mutating func admit(_ capacity: Int) -> [Ticket] {
        var admitted: [Ticket] = []
        while let first = waiting.first, fits(first.bytes, capacity) {
            used += first.bytes
            admitted.append(first.ticket)
            waiting.removeFirst()
        }
        return admitted
    }

    private func fits(_ bytes: Int, _ capacity: Int) -> Bool {
        used == 0 || used <= capacity - bytes
    }
}
