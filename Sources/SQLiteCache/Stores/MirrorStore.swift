import Foundation
import HTTPCaching
import SynchronizerSupport

/// An entry of another level, as this store keeps a copy of it: with the same identifier.
package struct MirroredEntry: Sendable {
    package let id: Int64
    package let record: EncodedRecord
    package let variant: UInt64
    package let body: Data
    /// Whether only memory may keep it.
    package var isMemoryOnly = false

    package init(id: Int64, record: EncodedRecord, variant: UInt64, body: Data, isMemoryOnly: Bool = false) {
        (self.id, self.record, self.variant, self.body) = (id, record, variant, body)
        self.isMemoryOnly = isMemoryOnly
    }
}

/// What a level behind this store needs to keep copies of its entries here.
extension SQLiteURLCache {
    /// The identifiers and records of all entries of a URL, newest first.
    package func copies(of url: String) -> [(id: Int64, record: EncodedRecord)] {
        cache.rows(of: url).map { ($0.id, $0.record) }
    }

    /// Stores a copy, in place of the entry with the same identifier or variant.
    package func keep(_ entry: MirroredEntry, of url: String) {
        cache.change(
            .store(
                StoredRow(
                    id: entry.id, url: url, urlKey: Checksum64.of(url), revision: MonotonicID.next(),
                    stored: cache.time.now.milliseconds, record: entry.record, variant: entry.variant,
                    bodySize: entry.body.count, body: entry.body, isMemoryOnly: entry.isMemoryOnly)))
    }

    package func removeCopy(_ id: Int64, of url: String) {
        cache.change(.remove(id: id, urlKey: Checksum64.of(url)))
    }
}
