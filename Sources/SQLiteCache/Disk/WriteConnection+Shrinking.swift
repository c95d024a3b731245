import Foundation
import SynchronizerSupport

extension WriteConnection {
    /// Shrinks a generation that exceeds its capacity by a third: copies the entries that are kept to a new generation.
    /// Evicting that many would change most pages of the index by URL in each transaction. Lookups continue meanwhile, and
    /// other writers wait. Body files get a second link, so that the old generation stays complete until the new one is in
    /// use.
    ///
    /// - Parameter mark: writes the usage times.
    /// - Returns: how many entries were removed; nil if this generation stays in use, and has to evict.
    func shrink(budget: DiskBudget, marking mark: () throws -> Void) throws -> Int? {
        guard budget.capacity > 0, checkedCapacity != budget.capacity else { return nil }
        checkedCapacity = budget.capacity
        guard try transaction({ try usage().isMuchTooLarge(for: budget) }) else { return nil }
        try mark()
        return try transaction { try copySurvivors(budget: budget) }
    }

    private func copySurvivors(budget: DiskBudget) throws -> Int? {
        let usage = try usage()
        guard usage.isMuchTooLarge(for: budget), let victims = try victims(usage: usage, budget: budget) else {
            return nil
        }
        do {
            try Generation.make(after: generation, in: directory) { draft in
                try copy(to: draft, usedAfter: victims.last)
            }
        } catch let failure as SQLiteFailure where !failure.isCorruption {
            return nil  // there may be no room for both, or no links on this file system
        }
        generation.retire(from: directory)
        return victims.count
    }

    private struct Victims {
        /// The victim that was used last.
        var last: EntryUse
        var count: Int
    }

    /// The entries that have to be removed. Each counts with its body and an equal share of the rest of the database.
    private func victims(usage: DiskUsage, budget: DiskBudget) throws -> Victims? {
        var (bodies, count) = (0.0, 0.0)
        try forEachByUse { entry in
            bodies += Self.allocatedBytes(length: entry.length)
            count += 1
            return true
        }
        let overhead = max(0, Double(usage.content) - bodies) / max(1, count)
        var excess = Double(usage.content - budget.preferredContent)
        var victims: Victims?
        try forEachByUse { entry in
            excess -= overhead + Self.allocatedBytes(length: entry.length)
            victims = Victims(last: entry, count: (victims?.count ?? 0) + 1)
            return excess > 0
        }
        return victims
    }

    /// The bytes that a body takes. The length may be corrupt.
    private static func allocatedBytes(length: Int64) -> Double {
        let isInFile = length > StoredBody.largestInDatabase
        return Double(isInFile ? BodyFiles.allocatedBytes(length: length) : max(0, length))
    }

    /// Passes the entries to `body`, least recently used first, until it returns false.
    private func forEachByUse(_ body: (EntryUse) -> Bool) throws {
        typealias Use = Schema.Use
        let selection = try statement(Schema.entriesByUse)
        defer { selection.reset() }
        while try selection.step() {
            let entry = (selection.integer(Use.used), selection.integer(Use.length), selection.integer(Use.id))
            guard body(entry) else { return }
        }
    }

    private func copy(to draft: Generation.Draft, usedAfter last: EntryUse) throws(SQLiteFailure) {
        let copy = try Database(path: draft.database, busyTimeout: .none)
        try copy.execute(Schema.connection)
        try copy.prepare(Schema.attachOld).run(binding: Data(generation.database.utf8), at: 0)
        try copy.execute(Schema.copy(usedAfter: last))
        let kept = try copy.prepare(Schema.filesOfDraft)
        while try kept.step() {
            let id = kept.integer(.only)
            // If a file is missing, the lookup of its entry notices that.
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
