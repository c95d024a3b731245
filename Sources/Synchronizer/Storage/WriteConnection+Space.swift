import Foundation

extension WriteConnection {
    /// Counts pages and body files. Both numbers of pages are in the header of the database; the sizes of the body files
    /// are in an index of their own.
    func usage() throws(SQLiteFailure) -> DiskUsage {
        let pageSize = try number(Schema.pageSize)
        let free = try number(Schema.freePageCount)
        let pages = try number(Schema.pageCount)
        return DiskUsage(
            content: (pages - free) * pageSize + (try number(Schema.fileBytes)), free: free * pageSize)
    }

    /// Evicts what was used least recently until that many bytes have room; returns how many responses went.
    ///
    /// - Parameter used: gives the times of use that the database does not know yet.
    func makeRoom(for bytes: Int64, _ budget: DiskBudget, used: () -> [Int64: Int64]) throws -> Int {
        var evicted = 0
        var excess = try usage().content + bytes - budget.content
        guard excess > 0 else { return 0 }
        unlink(directory.setAside)
        try markUsed(used())
        while excess > 0 {
            let goal = try usage().content + bytes - budget.preferredContent
            let count = try evict(bytes: min(goal, budget.writeAheadLog * 4))
            if count == 0 { break }
            evicted += count
            try keepLogShort(budget)
            excess = try usage().content + bytes - budget.content
        }
        return evicted
    }

    /// One batch, so that other processes get their turn, and the log stays short.
    private func evict(bytes: Int64) throws -> Int {
        var victims: [Int64] = []
        try transaction {
            let oldest = try statement(Schema.leastRecentlyUsed)
            defer { oldest.reset() }
            var freed: Int64 = 0
            while freed < bytes, try oldest.step() {
                victims.append(oldest.integer(0))
                freed += oldest.integer(1)
            }
            oldest.reset()
            for victim in victims { try removeAll(Schema.victim, victim) }
        }
        try removeOrphans()
        return victims.count
    }

    /// Gives empty pages back, where there are more than the next stores will soon fill.
    func giveBackFreePages(_ budget: DiskBudget) throws {
        let free = try number(Schema.freePageCount)
        let pages = try number(Schema.pageCount)
        guard free > 64, free * 4 > pages else { return }
        let chunk = max(64, budget.writeAheadLog / max(512, try number(Schema.pageSize)))
        var rest = free
        while rest > 0 {
            try database.execute(Schema.vacuum(pages: min(chunk, rest)))
            rest -= chunk
            try keepLogShort(budget)
        }
        try database.checkpoint(truncating: true)
    }

    /// Writes the log into the database when it is long.
    func keepLogShort(_ budget: DiskBudget) throws(SQLiteFailure) {
        guard let log = FileIdentity(directory.writeAheadLog), log.size > budget.writeAheadLog else { return }
        // A log that has been written through is used again from its start, but keeps its length.
        try database.checkpoint(truncating: true)
    }

    private func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
