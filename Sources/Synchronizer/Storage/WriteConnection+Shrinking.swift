import Foundation

extension WriteConnection {
    /// Brings a generation that holds a third too much down to its capacity at once: copies what is kept into a new one.
    /// Removing as much would change most pages of the index by URL with each transaction. Lookups go on meanwhile; other
    /// writers wait. Body files get a second link, so that the old generation stays whole until the new one is in use.
    ///
    /// - Parameter mark: writes the times of use.
    /// - Returns: how many responses went; nil if the generation stays in use, and has to evict what is too much.
    func shrink(_ budget: DiskBudget, marking mark: () throws -> Void) throws -> Int? {
        guard budget.capacity > 0, checkedCapacity != budget.capacity else { return nil }
        checkedCapacity = budget.capacity
        guard try transaction({ isMuchTooLarge(try usage(), budget) }) else { return nil }
        try mark()
        return try transaction { try copySurvivors(budget) }
    }

    private func copySurvivors(_ budget: DiskBudget) throws -> Int? {
        let usage = try usage()
        guard isMuchTooLarge(usage, budget), let victims = try victims(usage, budget) else { return nil }
        let last = victims.last
        do {
            try Generation.make(after: generation, in: directory) { draft in try copy(to: draft, usedAfter: last) }
        } catch let failure as SQLiteFailure where !failure.isDamage {
            return nil  // there may be no room for both, or no links on this file system
        }
        generation.retire(from: directory)
        return victims.count
    }

    private func isMuchTooLarge(_ usage: DiskUsage, _ budget: DiskBudget) -> Bool {
        usage.content / 4 * 3 > budget.content
    }

    private typealias Place = (used: Int64, length: Int64, id: Int64)

    private struct Victims {
        /// The one that was used last.
        var last: Place
        var count: Int
    }

    /// The responses that have to go. What the database takes beside the bodies is taken to be the same for each.
    private func victims(_ usage: DiskUsage, _ budget: DiskBudget) throws -> Victims? {
        var (bodies, count) = (0.0, 0.0)
        try forEachByUse { place in
            bodies += Self.bytes(ofBody: place.length)
            count += 1
            return true
        }
        let overhead = max(0, Double(usage.content) - bodies) / max(1, count)
        var excess = Double(usage.content - budget.preferredContent)
        var victims: Victims?
        try forEachByUse { place in
            excess -= overhead + Self.bytes(ofBody: place.length)
            victims = Victims(last: place, count: (victims?.count ?? 0) + 1)
            return excess > 0
        }
        return victims
    }

    /// The length may be damaged.
    private static func bytes(ofBody length: Int64) -> Double {
        Double(length > Schema.largestBodyInDatabase ? BodyFiles.blocks(length) : max(0, length))
    }

    private func forEachByUse(_ body: (Place) -> Bool) throws {
        let selection = try statement(Schema.byUse)
        defer { selection.reset() }
        while try selection.step() {
            guard body((selection.integer(0), selection.integer(1), selection.integer(2))) else { return }
        }
    }

    private func copy(to draft: Generation.Draft, usedAfter last: Place) throws(SQLiteFailure) {
        let copy = try Database(path: draft.database, busyTimeout: .none)
        try copy.execute(Schema.connection)
        try copy.prepare(Schema.attachOld).run(binding: Data(generation.database.utf8), at: 0)
        try copy.execute(Schema.copy(usedAfter: last))
        let kept = try copy.prepare(Schema.filesOfDraft)
        while try kept.step() {
            let id = kept.integer(0)
            // A file that is missing is found to be missing when it is looked up.
            guard link(files.settledPath(id), "\(draft.bodies)/\(id)") == 0 || errno == ENOENT else {
                throw .system("\(draft.bodies) takes no links")
            }
        }
    }
}
