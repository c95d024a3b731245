import Foundation
import HTTPCaching
import SynchronizerSupport

/// A stored body from which objects are made.
package struct DerivedSource: Hashable, Sendable {
    /// The entry that has the body. An entry with other bytes has another identifier.
    package let entry: Int64
    /// The checksum of the body.
    package let digest: UInt64
    /// The length of the body, in bytes.
    package let bodySize: Int

    package init(entry: Int64, digest: UInt64, bodySize: Int) {
        self.entry = entry
        self.digest = digest
        self.bodySize = bodySize
    }
}

/// A store that keeps encoded objects next to the bodies that they were made from, as Fetching sees it. All calls may wait
/// for the disk.
package protocol DerivedObjectStore: ResponseStore {
    /// An object that was made from a body; nil if there is none, or it is corrupt.
    ///
    /// - Parameter name: names what the object is, and how it is encoded.
    func derivedObject(_ name: String, of source: DerivedSource) -> Data?

    /// Keeps an object until the entry of its source is removed, or the object itself is evicted.
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

/// A derived object is an entry of its own, so it is evicted, verified and counted like a body. Its URL, which no request can
/// have, names the entry that it belongs to: the objects of an entry are found together, and go with it. Its method names
/// the object.
enum DerivedEntry {
    private static let prefix = "derived from "

    static func url(ofObjectsFrom entry: Int64) -> String { prefix + String(entry) }

    /// The entry that an entry with this URL belongs to; nil if it is a response.
    static func source(of url: String) -> Int64? {
        url.hasPrefix(prefix) ? Int64(url.dropFirst(prefix.count)) : nil
    }

    fileprivate static func record(_ name: String, of source: DerivedSource, at now: Date) -> StoredRecord {
        let response = StoredResponse(
            url: url(ofObjectsFrom: source.entry), method: "\(source.digest) \(name)", selectingFields: HTTPFields(),
            status: 0, fields: HTTPFields(), requestTime: now, responseTime: now)
        var record = StoredRecord(response)
        record.other = StoredRecord.OtherResponse(mimeType: nil, textEncodingName: nil, expectedContentLength: -1)
        return record
    }
}

extension ResponseCache {
    fileprivate func derivedObject(_ name: String, of source: DerivedSource) -> Data? {
        let wanted = DerivedEntry.record(name, of: source, at: time.now).response
        let variant = wanted.variantKey
        let isWanted = { (row: StoredRow) in row.variant == variant }
        guard let row = rows(of: wanted.url, wanting: isWanted).first(where: isWanted),
            row.record.decoded?.response.method == wanted.method
        else { return nil }
        let place = row.bodyChecksum.map { StoredBody(length: row.bodySize, checksum: $0) }
        guard let data = row.body ?? body(of: row.id, url: wanted.url, known: place, variant: { variant }) else {
            return nil
        }
        noteUse(of: row.id)
        return data
    }

    fileprivate func keepDerivedObject(_ data: Data, as name: String, of source: DerivedSource) {
        guard state.withLock({ $0.diskCapacity > 0 && !$0.disk.hasFailed }) else { return }
        let record = DerivedEntry.record(name, of: source, at: time.now)
        let (url, id) = (record.response.url, MonotonicID.next())
        change(
            .store(
                StoredRow(
                    id: id, url: url, urlKey: Checksum64.of(url), revision: id, stored: time.now.milliseconds,
                    record: EncodedRecord(record), variant: record.response.variantKey, bodySize: data.count, body: data
                )
            ))
    }
}
