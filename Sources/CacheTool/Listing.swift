import Foundation
import HTTPCaching
import SQLiteCache

/// Formats stored responses as a table with a head.
struct Listing {
    private static let head = ["SIZE", "AGE", "FRESH FOR", "LAST USE", "VARIANT", "URL"]
    /// The columns that are texts, aligned left. The columns before them are numbers, aligned right.
    private static let textColumns = 4...

    private let rows: [[String]]

    /// A response to list.
    struct Item {
        let response: StoredResponse
        let bodySize: Int
        /// nil if this is not known.
        let lastUse: Date?
    }

    init(_ items: [Item], at now: Date) {
        rows = items.map { entry in
            let freshness = CacheRules().freshness(of: entry.response, at: now)
            return [
                Words.size(entry.bodySize), Words.duration(freshness.age), Words.lifetimeLeft(freshness),
                entry.lastUse.map { Words.duration(now.timeIntervalSince($0)) } ?? "-", Words.variant(entry.response),
                Words.printable(entry.response.url),
            ]
        }
    }

    var lines: [String] {
        if rows.isEmpty { return [] }
        let table = [Self.head] + rows
        let widths = Self.head.indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { Self.line($0, widths: widths) }
    }

    private static func line(_ row: [String], widths: [Int]) -> String {
        let cells = row.indices.map { column in
            let padding = String(repeating: " ", count: widths[column] - row[column].count)
            if column == row.count - 1 { return row[column] }
            return textColumns.contains(column) ? row[column] + padding : padding + row[column]
        }
        return cells.joined(separator: "  ")
    }
}
