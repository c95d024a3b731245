import Foundation
import HTTPCaching
import SynchronizerSupport

/// Reads what a cache directory contains, without changing its entries, even while it is in use: for `Scripts/cache`.
package struct CacheInspection {
    /// One stored response.
    package struct Entry: Sendable {
        package let id: Int64
        package let response: StoredResponse
        /// The length of the body, in bytes.
        package let bodySize: Int
        /// When the response was stored or last updated.
        let stored: Date
        /// When the response was stored or last used, roughly: usage times are written once a minute.
        package let lastUse: Date

        /// Whether it is an object made from the body of another entry.
        var isDerived: Bool { DerivedEntry.source(of: response.url) != nil }
    }

    /// All responses, the objects that were made from their bodies, and the number of corrupt rows.
    package struct Contents: Sendable {
        package internal(set) var entries: [Entry] = []
        package internal(set) var objects: [Entry] = []
        /// How many rows of the database failed their check.
        package internal(set) var corruptRows = 0
        /// Why the rest of the database can't be read; nil if all of it was read.
        package internal(set) var corruption: String?

        package init(corruption: String? = nil) { self.corruption = corruption }
    }

    /// Why a directory can't be inspected.
    package struct Unusable: Error, CustomStringConvertible {
        package let description: String
        /// Whether there is a cache, but a corrupt one.
        package var isCorrupt = false
    }

    private let connection: ReadConnection

    /// - Throws: `Unusable`, if the directory contains no cache, or one that can't be opened.
    package init(_ url: URL) throws {
        let directory = CacheDirectory(url)
        do {
            guard let generation = try Generation.newest(in: directory) else {
                throw Unusable(description: "There is no cache in \(directory.path).")
            }
            try directory.check()
            connection = try ReadConnection(generation: generation, busyTimeout: BusyTimeout(seconds: 2))
        } catch let unusable as Unusable {
            throw unusable
        } catch {
            throw Unusable(
                description: "The cache in \(directory.path) can't be used: \(error)",
                isCorrupt: (error as? SQLiteFailure)?.isCorruption == true)
        }
    }

    /// Reads all rows, as far as that is possible; the responses are sorted, most recently used first.
    package func contents() throws -> Contents {
        var contents = Contents()
        do {
            try read(into: &contents)
        } catch let failure as SQLiteFailure where failure.isCorruption {
            contents.corruption = failure.message
        }
        contents.entries.sort { $0.lastUse > $1.lastUse }
        return contents
    }

    private func read(into contents: inout Contents) throws {
        var last: Int64?
        repeat {
            let page = try connection.page(after: last)
            last = page.last
            for entry in page.entries {
                if entry.isDerived { contents.objects.append(entry) } else { contents.entries.append(entry) }
            }
            contents.corruptRows += page.corrupt
        } while last != nil
    }

    /// Whether every byte of an entry's body is as it was stored; nil if the entry no longer exists.
    package func isIntact(_ entry: Entry) throws -> Bool? {
        do {
            // A body file that is missing at the first attempt may have been evicted with its row.
            for _ in 0..<2 {
                switch try connection.body(of: entry.id) {
                case .complete: return true
                case .corrupt, .unreadable: return false
                case .missing: continue
                case nil: return nil
                }
            }
        } catch {
            if !error.isCorruption { throw error }
        }
        return false
    }

    /// The first error that SQLite's `integrity_check` finds; nil if it finds none.
    package func structuralCorruption() throws -> String? {
        do {
            let findings = try connection.database.texts(Schema.integrityCheck)
            return findings == ["ok"] ? nil : findings.first
        } catch {
            if error.isCorruption { return error.message }
            throw error
        }
    }
}
