import Foundation
import SynchronizerSupport

// To remove many entries, the writer copies the other entries to a new generation. If it removed one entry after the other, each
// transaction would change most pages of the index by URL. During the copy lookups continue, and other writers wait. Body files
// get a second hard link, so that the old generation stays complete until the new one is in use.
extension WriteConnection {
    /// Shrinks a generation that exceeds its capacity by a third: copies the entries that are kept to a new generation.
    ///
    /// - Parameter mark: writes the usage times.
    /// - Returns: how many entries were removed; nil if this generation stays in use. Then transactions evict, if necessary.
    func shrink(budget: DiskBudget, marking mark: () throws -> Void) throws -> Int? {
        guard budget.capacity > 0, checkedCapacity != budget.capacity else { return nil }
        checkedCapacity = budget.capacity
        guard try transaction({ try isMuchTooLarge(for: budget) }) else { return nil }
        try mark()
        return try transaction { try copySurvivors(budget: budget) }
    }

    /// Whether the entries alone are much too large. If they are too large only together with partial bodies, first removes partial
    /// bodies that no load is receiving.
    private func isMuchTooLarge(for budget: DiskBudget) throws -> Bool {
        let excess = try usage().content - budget.content
        if excess > 0 { _ = partials.evict(excess) }
        return try usage(partials: 0).isMuchTooLarge(for: budget)
    }

    private func copySurvivors(budget: DiskBudget) throws -> Int? {
        // No partial body is copied.
        let usage = try usage(partials: 0)
        guard usage.isMuchTooLarge(for: budget), let victims = try victims(usage: usage, budget: budget) else {
            return nil
        }
        return try replace(keeping: Schema.usedAfter(victims.last)) ? victims.count : nil
    }

    /// Removes the entries that were stored at that moment or later, if they are more than half of all entries, and all entries are
    /// too many for one transaction; returns whether it has removed them.
    func replaceIfMostGo(since moment: Int64, budget: DiskBudget) throws -> Bool {
        try transaction {
            let count = try database.integer(Schema.countEntries)
            guard count > Int64(budget.batchCount) else { return false }
            let kept = try database.integer(Schema.countStoredBefore, moment)
            return try kept < count / 2 && replace(keeping: kept == 0 ? nil : Schema.storedBefore(moment))
        }
    }

    /// Copies entries to a new generation, which replaces this one; returns whether that was possible.
    ///
    /// - Parameter condition: the SQL condition for the entries that are kept; nil for none.
    private func replace(keeping condition: String?) throws -> Bool {
        do {
            if let condition {
                try Generation.make(after: generation, in: directory) { try copy(to: $0, keeping: condition) }
            } else {
                try Generation.make(after: generation, in: directory)
            }
        } catch let failure as SQLiteFailure where !failure.isCorruption {
            return false  // there may be no room for both generations, or no hard links on this file system
        }
        generation.retire(from: directory)
        isReplaced = true
        return true
    }

    private struct Victims {
        /// The victim that was used last.
        var last: EntryUse
        var count: Int
    }

    /// The entries to remove. An entry counts as its body plus an equal share of the rest of the database.
    ///
    /// Any length may be corrupt. The share depends only on the lengths of bodies in the database, which are limited: so one
    /// corrupt length of an entry that is kept hardly changes what is removed.
    private func victims(usage: DiskUsage, budget: DiskBudget) throws -> Victims? {
        var (rest, count) = (Double(usage.database), 0.0)
        try forEachByUse { entry in
            rest -= Self.bytesInDatabase(length: entry.length)
            count += 1
            return true
        }
        let share = max(0, rest) / max(1, count)
        var excess = Double(usage.content - budget.preferredContent)
        var victims: Victims?
        try forEachByUse { entry in
            // A file that is larger than all files together is not there.
            let file = entry.length > usage.files ? 0 : Self.bytesInFile(length: entry.length)
            excess -= share + Self.bytesInDatabase(length: entry.length) + file
            victims = Victims(last: entry, count: (victims?.count ?? 0) + 1)
            return excess > 0
        }
        return victims
    }

    private static func bytesInDatabase(length: Int64) -> Double {
        length > StoredBody.largestInDatabase ? 0 : Double(max(0, length))
    }

    private static func bytesInFile(length: Int64) -> Double {
        length > StoredBody.largestInDatabase ? Double(FileSystem.nominalBytes(length: length)) : 0
    }

    /// Passes the entries to `body`, least recently used first, until it returns false.
    private func forEachByUse(_ body: (EntryUse) -> Bool) throws {
        typealias Use = Schema.Victim
        let selection = try database.statement(Schema.entriesByUse)
        defer { selection.reset() }
        while try selection.step() {
            let entry = (selection.integer(Use.used), selection.integer(Use.length), selection.integer(Use.id))
            guard body(entry) else { return }
        }
    }

    private func copy(to draft: Generation.Draft, keeping condition: String) throws(SQLiteFailure) {
        let copy = try Database(path: draft.database, busyTimeout: .none)
        try copy.execute(Schema.connection)
        try copy.statement(Schema.attachOld).run(binding: Data(generation.database.utf8), at: 0)
        try copy.execute(Schema.copy(keeping: condition))
        let kept = try copy.statement(Schema.filesOfDraft)
        while try kept.step() {
            let id = kept.integer()
            // If a file is missing, a lookup will drop its entry.
            guard link(files.settledPath(id), "\(draft.bodies)/\(id)") == 0 || errno == ENOENT else {
                throw .system("\(draft.bodies) accepts no links")
            }
        }
    }
}

extension DiskUsage {
    fileprivate func isMuchTooLarge(for budget: DiskBudget) -> Bool {
        content / 4 * 3 > budget.content
    }
}
