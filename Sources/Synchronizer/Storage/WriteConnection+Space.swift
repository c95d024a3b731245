import Foundation

extension WriteConnection {
    /// What a change adds, in bytes.
    struct Need {
        var database: Int64 = 0
        var files: Int64 = 0
    }

    func usage() throws(SQLiteFailure) -> DiskUsage {
        if try fileBytes() == nil { try countFiles() }
        return DiskUsage(
            pageSize: try number(Schema.pageSize), pages: try number(Schema.pageCount),
            freePages: try number(Schema.freePageCount), files: try fileBytes() ?? 0)
    }

    /// Makes a change in a transaction in which there is room for it. Evicts before what was used least recently, in
    /// transactions of their own; returns how many responses went. A cache without a disk leaves all of it to those who
    /// have one.
    func change(
        _ need: Need, _ budget: DiskBudget, marking mark: () throws -> Void, _ change: () throws -> Void = {}
    ) throws -> Int {
        var evicted = 0
        var hasMarked = false
        var canShrink = budget.capacity > 0
        while true {
            let usage: DiskUsage? = try transaction {
                let usage = try self.usage()
                if canShrink, usage.excess(need, budget.content) > 0 { return usage }
                try change()
                return nil
            }
            guard let usage else { return evicted }
            if !hasMarked { try mark() }
            hasMarked = true
            let count = try evict(usage, need, budget)
            evicted += count
            if count == 0 { canShrink = try vacuum(usage, need, budget) }
            usleep(1000)  // other processes get their turn
        }
    }

    /// One transaction, so that other processes get their turn and the journal stays short.
    private func evict(_ usage: DiskUsage, _ need: Need, _ budget: DiskBudget) throws -> Int {
        let goal = usage.content + need.database + need.files - budget.preferredContent
        guard usage.content + need.database + need.files > budget.content else { return 0 }
        return try transaction {
            var freed: Int64 = 0
            let oldest = try victims(Schema.leastRecentlyUsed, [Int64(budget.removalCount)])
            var count = 0
            for victim in oldest where freed < goal {
                count += try remove(victim.id, victim.length)
                freed += 512 + max(0, min(victim.length, 1 << 32))
            }
            if count == 0, !oldest.isEmpty { throw SQLiteFailure.damage("nothing can be removed from it") }
            return count
        }
    }

    /// Gives back the empty pages for which there is no room beside what is stored and what is to come; returns whether
    /// there were any.
    private func vacuum(_ usage: DiskUsage, _ need: Need, _ budget: DiskBudget) throws -> Bool {
        let pages = min(usage.freePages, usage.excess(need, budget.preferredContent) / usage.pageSize + 1)
        return try vacuum(pages, budget)
    }

    /// Gives empty pages back where there are more than the next stores will soon fill.
    func giveBackFreePages(_ budget: DiskBudget) throws {
        let usage = try usage()
        guard usage.freePages > 64, usage.freePages * 4 > usage.pages else { return }
        _ = try vacuum(usage.freePages, budget)
    }

    private func vacuum(_ pages: Int64, _ budget: DiskBudget) throws -> Bool {
        let before = try number(Schema.pageCount)
        var left = pages
        while left > 0 {
            let some = min(left, Int64(max(8, budget.removalCount / 4)))  // a page that moves changes others
            let count = try number(Schema.pageCount)
            try transaction { try database.execute(Schema.vacuum(pages: some)) }
            // The number of empty pages may be damaged.
            if try number(Schema.pageCount) >= count { break }
            left -= some
            if left > 0 { usleep(1000) }
        }
        return try number(Schema.pageCount) < before
    }

    /// Writes times of use. They may be many: some at a time, so that the journal stays short.
    func markUsed(_ used: [Int64: Int64], _ budget: DiskBudget) throws {
        var rest = used.sorted { $0.key < $1.key }[...]
        while !rest.isEmpty {
            let marking = try statement(Schema.markUsed)
            try transaction { for (id, time) in rest.prefix(budget.removalCount) { try marking.run(id, time) } }
            rest = rest.dropFirst(budget.removalCount)
        }
    }

    /// Removes what was stored at that moment or later, some at a time.
    func removeAll(since moment: Int64, _ budget: DiskBudget) throws {
        var last = Int64.min
        while true {
            let removed = try transaction {
                let removed = try victims(Schema.victimsSince, [last, moment, Int64(budget.removalCount)])
                for victim in removed { try remove(victim.id, victim.length) }
                return removed
            }
            guard let id = removed.last?.id, id > last else { return }
            last = id
        }
    }
}

extension DiskUsage {
    /// By how many bytes that is too much.
    fileprivate func excess(_ need: WriteConnection.Need, _ limit: Int64) -> Int64 {
        // Empty pages are filled before the database grows.
        content + max(free, need.database) + need.files - limit
    }
}
