import Foundation
import SynchronizerSupport

extension WriteConnection {
    func usage() throws(SQLiteFailure) -> DiskUsage { try usage(partials: partials.bytes) }

    /// - Parameter partials: the bytes that the partial bodies count.
    func usage(partials: Int64) throws(SQLiteFailure) -> DiskUsage {
        if try fileBytes() == nil { try countFiles() }
        return DiskUsage(
            pageSize: try database.integer(Schema.pageSize), pages: try database.integer(Schema.pageCount),
            freePages: try database.integer(Schema.freePageCount),
            files: (try fileBytes() ?? 0) + partials + LeaseFile.allocatedBytes(in: directory))
    }

    /// Runs `change` in a transaction once there is room for it. Earlier transactions evict the least recently used entries.
    /// A cache without a disk capacity leaves eviction to the other caches of the directory.
    ///
    /// - Parameter mark: writes the usage times.
    /// - Returns: how many entries were evicted.
    func change(
        needing need: DiskNeed, budget: DiskBudget, marking mark: () throws -> Void, _ change: () throws -> Void = {}
    ) throws -> Int {
        var evicted = 0
        var hasMarked = false
        var canShrink = budget.capacity > 0
        while true {
            let usage: DiskUsage? = try transaction {
                let usage = try self.usage()
                if canShrink, usage.excess(after: need, over: budget.content) > 0 { return usage }
                try change()
                return nil
            }
            guard let usage else { return evicted }
            if !hasMarked { try mark() }
            hasMarked = true
            if let count = try evict(usage: usage, need: need, budget: budget) {
                evicted += count
            } else {
                canShrink = try vacuum(usage: usage, need: need, budget: budget)
            }
            usleep(1000)  // other processes get the lock
        }
    }

    /// Evicts a limited number of entries in one transaction, so that other processes get the lock and the journal stays short.
    ///
    /// - Returns: how many; nil if no room could be made.
    private func evict(usage: DiskUsage, need: DiskNeed, budget: DiskBudget) throws -> Int? {
        let content = usage.content + need.database + need.files
        guard content > budget.content else { return nil }
        // Partial bodies are evicted first. If that is enough, no entry is evicted.
        var freed = partials.evict(content - budget.content)
        if freed >= content - budget.content { return 0 }
        return try transaction {
            let oldest = try victims(Schema.leastRecentlyUsed, parameters: [Int64(budget.batchCount)])
            var count = 0
            for victim in oldest where freed < content - budget.preferredContent && count < budget.batchCount {
                let removed = try remove(victim.id)
                count += removed.ids.count
                freed += removed.bytes
            }
            if count == 0, !oldest.isEmpty { throw SQLiteFailure.corruption("the index by use has other rows") }
            return freed > 0 ? count : nil
        }
    }

    /// Gives free pages for which there is no room back to the file system; returns whether the database has become smaller.
    private func vacuum(usage: DiskUsage, need: DiskNeed, budget: DiskBudget) throws -> Bool {
        let excess = usage.excess(after: need, over: budget.preferredContent)
        return try vacuum(pages: min(usage.freePages, excess / usage.pageSize + 1), budget: budget)
    }

    /// Gives free pages back to the file system if there are more than the next stores will soon fill.
    func giveBackFreePages(budget: DiskBudget) throws {
        let usage = try usage()
        guard usage.freePages > 64, usage.freePages * 4 > usage.pages else { return }
        _ = try vacuum(pages: usage.freePages, budget: budget)
    }

    private func vacuum(pages: Int64, budget: DiskBudget) throws -> Bool {
        let before = try database.integer(Schema.pageCount)
        var left = pages
        while left > 0 {
            let some = min(left, Int64(budget.batchCount))
            let count = try database.integer(Schema.pageCount)
            try transaction { try database.execute(Schema.vacuum(pages: some)) }
            // A corrupt number of free pages must not keep the loop running.
            if try database.integer(Schema.pageCount) >= count { break }
            left -= some
            if left > 0 { usleep(1000) }
        }
        return try database.integer(Schema.pageCount) < before
    }

    /// Writes usage times. Because they may be many, several transactions keep the journal short.
    func markUsed(_ usageTimes: [Int64: Int64], budget: DiskBudget) throws {
        var rest = usageTimes.sorted { $0.key < $1.key }[...]
        while !rest.isEmpty {
            let marking = try database.statement(Schema.markUsed)
            try transaction { for (id, time) in rest.prefix(budget.batchCount) { try marking.run(id, time) } }
            rest = rest.dropFirst(budget.batchCount)
        }
    }

    /// Lowers usage times in the future to this moment. They are from before the clock was set back. Otherwise all entries that
    /// are stored now would be evicted first, until the clock has caught up.
    func lowerFutureUses(at now: Date, budget: DiskBudget) throws {
        let (now, limit) = (now.milliseconds, now.addingTimeInterval(60).milliseconds)
        while try database.integer(Schema.usedAhead, limit) > 0 {
            try transaction {
                try database.statement(Schema.lowerUsed).run(limit, now, Int64(budget.batchCount))
                if database.changes == 0 { throw SQLiteFailure.corruption("the index by use has other rows") }
            }
            usleep(1000)  // other processes get the lock
        }
    }

    /// Removes the entries that were stored at that moment or later, in several transactions. If a corrupt identifier might make it
    /// leave some, throws.
    func removeAll(since moment: Int64, budget: DiskBudget) throws {
        var last = Int64.min
        while true {
            let count = try transaction {
                let found = try victims(Schema.victimsSince, parameters: [last, moment, Int64(budget.batchCount)])
                var removed: Set<Int64> = []
                for victim in found {
                    // It may have been removed already, together with the entry that it was made from.
                    if !removed.contains(victim.id) { removed.formUnion(try remove(victim.id).ids) }
                    guard victim.id > last, removed.contains(victim.id) else {
                        throw SQLiteFailure.corruption("the identifier of an entry is wrong")
                    }
                    last = victim.id
                }
                return found.count
            }
            if count == 0 { return }
            usleep(1000)  // other processes get the lock
        }
    }
}
