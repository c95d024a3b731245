import Foundation
import HTTPCaching
import SynchronizerSupport

// Incoming bodies in files of the cache.
extension WriteConnection {
    var partials: PartialFiles { generation.partials }

    /// Makes a file for an incoming body, after making room for it; nil if the cache does not take a body of that length.
    func makePartial(
        for url: String, resumable: StoredResponse?, length: Int, budget: DiskBudget, marking mark: () throws -> Void
    ) throws -> PartialFile? {
        guard isAcceptable(length, budget: budget) else { return nil }
        var partial: PartialFile?
        _ = try change(needing: Self.need(length), budget: budget, marking: mark) {
            _ = try FileSystem.provideDirectory(partials.folder)
            partial = try PartialFile(in: partials, for: url, resumable: resumable, length: length)
        }
        return partial
    }

    /// Makes room for more bytes of an incoming body; returns whether the cache takes a body of that length.
    func grow(_ partial: PartialFile, to length: Int, budget: DiskBudget) throws -> Bool {
        let more = length - partial.reserved
        guard partial.place == partials, isAcceptable(length, besides: partial.reserved, budget: budget) else {
            return false
        }
        _ = try change(needing: Self.need(more), budget: budget, marking: {}) { try partial.reserve(length) }
        return true
    }

    /// Whether a body fits: all incoming bodies together may take half of the content's limit, because they can't be evicted.
    private func isAcceptable(_ length: Int, besides reserved: Int = 0, budget: DiskBudget) -> Bool {
        length <= budget.largestBody - Int(clamping: partials.arrivingBytes) + reserved
    }

    private static func need(_ length: Int) -> DiskNeed {
        DiskNeed(database: 0, files: FileSystem.nominalBytes(length: Int64(length)) + 4096)
    }

    /// Stores a response whose body has arrived in a file of this generation. Does not need the file if the database has a copy of
    /// the entry (``hasCopy(_:)``). Returns false if the file is elsewhere, if the response comes too late (``isLate(_:)``), or if
    /// another process has made the same identifier, which hardly ever happens.
    func adopt(_ row: StoredRow, file: BodyFile) throws -> Bool {
        guard let partial = file.partial, partial.place == partials else { return false }
        let body = StoredBody(length: file.count, checksum: file.checksum)
        return try transaction {
            if try isLate(.store(row)) { return false }
            if try hasCopy(row) {
                try apply(RowUpdate(row))
                return true
            }
            guard try length(of: row.id) == nil else { return false }
            try removeVictims(
                Schema.victimsOfVariant, parameters: Int64(bitPattern: row.urlKey), Int64(bitPattern: row.variant))
            try removeVictims(Schema.victimsBeyond, parameters: Int64(bitPattern: row.urlKey))
            guard try insert(row, id: row.id, data: Data(), body: body) else {
                throw SQLiteFailure.corruption("the database accepts no entries")
            }
            try adoptFile(partial.path, id: row.id, length: body.length)
            return true
        }
    }
}
