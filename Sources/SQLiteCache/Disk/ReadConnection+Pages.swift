import Foundation
import HTTPCaching

/// Some hundred rows of the database, read in one transaction, so that no writer has to wait for long.
struct EntryPage: Sendable {
    var entries: [CacheInspection.Entry] = []
    /// How many rows failed their check.
    var corrupt = 0
    /// The identifier after which the next page begins; nil if there are no more rows.
    var last: Int64?

    /// The number of rows on each page but the last.
    fileprivate static let size = 256
}

extension ReadConnection {
    /// The entries after an identifier, in the order of their identifiers.
    ///
    /// The next page begins after a row whose identifier has been verified. After a corrupt identifier, it could leave out rows, or
    /// begin with the same rows again. If a corrupt one misleads SQLite's search, rows of the page before come again.
    func page(after last: Int64?) throws(SQLiteFailure) -> EntryPage {
        try inOneState { () throws(SQLiteFailure) in
            let selection = try database.statement(Schema.allEntries)
            defer { selection.reset() }
            selection.bind(last ?? .min, at: 0)
            var page = EntryPage()
            while page.entries.count < EntryPage.size {
                guard try selection.step() else {
                    page.last = nil
                    break
                }
                guard let row = try DecodedRow(selection)?.row, let record = row.record.decoded else {
                    page.corrupt += 1
                    continue
                }
                guard row.id > page.last ?? last ?? .min else { continue }
                page.last = row.id
                page.entries.append(
                    CacheInspection.Entry(
                        id: row.id, response: record.response, bodySize: row.bodySize,
                        stored: Date(milliseconds: row.stored),
                        lastUse: Date(milliseconds: selection.integer(Schema.Entry.used))))
            }
            return page
        }
    }
}
