import Foundation
import HTTPCaching
import SynchronizerSupport

/// A stored body from which objects are made.
package struct DerivedSource: Hashable, Sendable {
    /// The entry that has the body. An entry with other bytes has another identifier.
    package let entry: Int64
    /// The checksum of the body.
    package let checksum: UInt64
    /// The length of the body, in bytes.
    package let bodySize: Int

    package init(entry: Int64, checksum: UInt64, bodySize: Int) {
        self.entry = entry
        self.checksum = checksum
        self.bodySize = bodySize
    }
}

/// A store that keeps encoded objects next to the bodies that they were made from, as the layer Fetching sees it. All calls
/// may wait for the disk.
package protocol DerivedObjectStore: ResponseStore {
    /// An object that was made from a body; nil if there is none, or it is corrupt.
    ///
    /// - Parameter name: names what the object is, and how it is encoded.
    func derivedObject(_ name: String, of source: DerivedSource) -> Data?

    /// Keeps an object until the entry of its source is removed, or the object itself is evicted. An object that the disk
    /// does not take is dropped.
    func keepDerivedObject(_ data: Data, as name: String, of source: DerivedSource)
}

extension SQLiteURLCache: DerivedObjectStore {
    package func derivedObject(_ name: String, of source: DerivedSource) -> Data? {
        cache.derivedObject(name, of: source)
    }

    package func keepDerivedObject(_ data: Data, as name: String, of source: DerivedSource) {
        cache.keepDerivedObject(data, as: name, of: source)
    }
}

extension ResponseCache {
    func derivedObject(_ name: String, of source: DerivedSource) -> Data? {
        let wanted = DerivedEntry.record(name, from: source.entry, checksum: source.checksum, at: time.now).response
        let variant = wanted.variantKey
        let isWanted = { (row: StoredRow) in row.variant == variant }
        guard let row = rows(of: wanted.url, wanting: isWanted).first(where: isWanted),
            row.record.decoded?.response.method == wanted.method
        else { return nil }
        let place = row.bodyChecksum.map { StoredBody(length: row.bodySize, checksum: $0) }
        guard let data = row.body ?? body(of: row.id, url: wanted.url, known: place) else { return nil }
        noteUse(of: row.id)
        return data
    }

    func keepDerivedObject(_ data: Data, as name: String, of source: DerivedSource) {
        store(DerivedEntry.record(name, from: source.entry, checksum: source.checksum, at: time.now), body: data)
    }
}
