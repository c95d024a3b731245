import Foundation

extension WriteConnection {
    /// Counts pages and body files. Both numbers of pages are in the header of the database.
    func usage() throws(SQLiteFailure) -> DiskUsage {
        let pageSize = try number(Schema.pageSize)
        let free = try number(Schema.freePageCount)
        let pages = try number(Schema.pageCount)
        return DiskUsage(pageSize: pageSize, pages: pages, freePages: free, files: try fileBytes() + setAsideBytes)
    }

    private var setAsideBytes: Int64 { FileIdentity(directory.setAside)?.allocated ?? 0 }

    /// The bytes of all body files, out of an index of their own; counted anew when rows with files have gone, or
    /// another process has changed the database.
    private func fileBytes() throws(SQLiteFailure) -> Int64 {
        let version = try number(Schema.dataVersion)
        if let known = knownFileBytes, known.version == version { return known.bytes }
        let bytes = try number(Schema.fileBytes)
        knownFileBytes = (version, bytes)
        return bytes
    }

    /// Evicts what was used least recently until so many bytes have room, and gives back the empty pages that are in
    /// their way; returns how many responses went. A cache without a disk leaves all of it to those who have one.
    ///
    /// - Parameters:
    ///   - bytes: of bodies that are to be stored.
    ///   - fileBytes: those of them that go into files, and fill no empty pages.
    ///   - mark: has the times of use written that the database does not know yet.
    func makeRoom(
        for bytes: Int64 = 0, inFiles fileBytes: Int64 = 0, _ budget: DiskBudget, marking mark: () throws -> Void
    ) throws -> Int {
        guard budget.capacity > 0 else { return 0 }
        var evicted = 0
        var excess = try usage().content + bytes - budget.content
        if excess > 0 {
            unlink(directory.setAside)
            try mark()
            excess = try usage().content + bytes - budget.content
        }
        while excess > 0 {
            let goal = try usage().content + bytes - budget.preferredContent
            let count = try evict(bytes: min(goal, budget.writeAheadLog * 4))
            if count == 0 { break }
            evicted += count
            try keepLogShort(budget)
            excess = try usage().content + bytes - budget.content
        }
        try giveBackExcess(budget, try usage(), for: fileBytes)
        return evicted
    }

    /// Writes times of use. They may be many: some at a time, so that the log stays short.
    func markUsed(_ used: [Int64: Int64], _ budget: DiskBudget) throws {
        var rest = used[...]
        let some = max(16, Int(budget.writeAheadLog >> 14))  // each may change a page of the table and two of an index
        while !rest.isEmpty {
            let marking = try statement(Schema.markUsed)
            try transaction { for (id, time) in rest.prefix(some) { try marking.run(id, time) } }
            rest = rest.dropFirst(some)
            try keepLogShort(budget)
        }
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
                freed += DiskUsage.plausible(oldest.integer(1))
            }
            oldest.reset()
            for victim in victims { try removeAll(Schema.victim, victim) }
        }
        try removeOrphans()
        return victims.count
    }

    /// Gives empty pages back, where there are more than the next stores will soon fill, or than there is room for.
    func giveBackFreePages(_ budget: DiskBudget) throws {
        let usage = try usage()
        let isMuch = usage.freePages > 64 && usage.freePages * 4 > usage.pages
        if isMuch { return try vacuum(usage.freePages, usage, budget) }
        try giveBackExcess(budget, usage)
    }

    /// Gives back the empty pages for which there is no room beside what is stored, and so many bytes to come.
    private func giveBackExcess(_ budget: DiskBudget, _ usage: DiskUsage, for bytes: Int64 = 0) throws {
        guard usage.content + usage.free + bytes > budget.content else { return }
        // Some more, so that not every store has to.
        let excess = usage.content + usage.free + bytes - budget.preferredContent
        try vacuum(min(usage.freePages, excess / usage.pageSize + 1), usage, budget)
    }

    private func vacuum(_ pages: Int64, _ usage: DiskUsage, _ budget: DiskBudget) throws {
        guard pages > 0 else { return }
        let chunk = max(64, budget.writeAheadLog / usage.pageSize)
        for start in stride(from: 0, to: pages, by: Int(chunk)) {
            try database.execute(Schema.vacuum(pages: min(chunk, pages - start)))
            try keepLogShort(budget)
        }
        try database.checkpoint(truncating: true)
    }

    /// Writes the log into the database when it is long.
    func keepLogShort(_ budget: DiskBudget) throws(SQLiteFailure) {
        guard let log = FileIdentity(file.writeAheadLog), log.size > budget.writeAheadLog else { return }
        // A log that has been written through is used again from its start, but keeps its length. Nobody has to wait for
        // that, unless readers have been in the way again and again.
        try database.checkpoint(truncating: true, waiting: log.size > budget.writeAheadLog * 3 / 2 ? 100 : 0)
    }

    private func number(_ sql: String) throws(SQLiteFailure) -> Int64 {
        let statement = try statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }
}
