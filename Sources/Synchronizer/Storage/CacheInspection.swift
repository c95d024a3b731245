import Foundation
import HTTPCaching

/// Looks at what a cache directory holds, and changes none of it, while it is in use or not: for `Scripts/cache`.
package struct CacheInspection {
    /// One stored response.
    package struct Entry: Sendable {
        package let id: Int64
        package let response: StoredResponse
        /// The length of the body, in bytes.
        package let bodySize: Int
        /// When the response was stored or last used, about: times of use are written once a minute.
        package let lastUse: Date
    }

    /// What is stored, and what of it can't be read.
    package struct Contents: Sendable {
        package internal(set) var entries: [Entry] = []
        /// How many rows of the database fail their check.
        package internal(set) var damagedRows = 0
    }

    /// There is nothing that could be looked at.
    package struct Unusable: Error, CustomStringConvertible {
        package let description: String
    }

    private let connection: ReadConnection

    /// - Throws: `Unusable`, if there is no cache in that directory, or none that can be opened.
    package init(_ url: URL) throws {
        let directory = CacheDirectory(url)
        do {
            guard let generation = try Generation.newest(in: directory) else {
                throw Unusable(description: "There is no cache in \(directory.path).")
            }
            try directory.check()
            connection = try ReadConnection(generation, busyTimeout: BusyTimeout(seconds: 2))
        } catch let unusable as Unusable {
            throw unusable
        } catch {
            throw Unusable(description: "The cache in \(directory.path) can't be used: \(error)")
        }
    }

    /// All that is stored, what was used last first.
    package func contents() throws -> Contents {
        var contents = Contents()
        try connection.forEachRow { decoded, id, used in
            guard case .row(let row, _) = decoded, let record = row.record.decoded else {
                contents.damagedRows += 1
                return
            }
            contents.entries.append(
                Entry(id: id, response: record.response, bodySize: row.bodySize, lastUse: Date(milliseconds: used)))
        }
        contents.entries.sort { $0.lastUse > $1.lastUse }
        return contents
    }

    /// Whether every byte of an entry's body is as it was stored; nil if the entry is gone by now.
    package func isWhole(_ entry: Entry) throws -> Bool? {
        // A body file that is gone at the first look may have been evicted meanwhile, with its row.
        for _ in 0..<2 {
            switch try connection.body(of: entry.id) {
            case .whole: return true
            case .damaged, .unreadable: return false
            case .missing: continue
            case nil: return nil
            }
        }
        return false
    }

    /// What SQLite finds wrong with the structure of the database; nil if nothing is.
    package func structuralDamage() throws -> String? {
        try connection.structuralDamage()
    }
}
