import Foundation
import HTTPCaching

/// A derived object is an entry of its own, so it is evicted, verified and counted like a response. Its URL, which no request
/// can have, names the entry whose body the object was made from: so all objects of an entry are found together, and are
/// removed with it. Its method names the object.
enum DerivedEntry {
    private static let prefix = "derived from "

    static func url(ofObjectsFrom entry: Int64) -> String { prefix + String(entry) }

    /// The entry that an entry with this URL belongs to; nil if it is a response.
    static func source(of url: String) -> Int64? {
        url.hasPrefix(prefix) ? Int64(url.dropFirst(prefix.count)) : nil
    }

    static func record(_ name: String, from entry: Int64, checksum: UInt64, at now: Date) -> StoredRecord {
        let response = StoredResponse(
            url: url(ofObjectsFrom: entry), method: "\(checksum) \(name)", selectingFields: HTTPFields(), status: 0,
            fields: HTTPFields(), requestTime: now, responseTime: now)
        var record = StoredRecord(response)
        record.other = StoredRecord.OtherResponse(mimeType: nil, textEncodingName: nil, expectedContentLength: -1)
        return record
    }
}
