import Foundation
import SynchronizerSupport

/// A stored response as the layers of the cache pass it to each other.
struct StoredRow: Sendable {
    let id: Int64
    let url: String
    let urlKey: UInt64
    /// Grows with each store and update of any response, so the newest response has the largest.
    var revision: Int64
    /// When the response was stored or updated, in milliseconds since 1970.
    var stored: Int64
    var record: EncodedRecord
    var variant: UInt64
    let bodySize: Int
    /// The checksum of the body according to the database; nil for a row that does not come from the database.
    var bodyChecksum: UInt64?
    /// nil while only the disk has the body.
    var body: Data?
    /// The object that a caller stored or was given, if memory has it.
    var cached: CachedURLResponse?
    /// Whether only memory keeps the response, because of its storage policy or because the disk does not take it.
    var isMemoryOnly = false
    /// Set if the response must not replace one that was requested later.
    var fence: LateResponseFence?

    /// Whether it is an object made from the body of another entry.
    var isDerived: Bool { DerivedEntry.source(of: url) != nil }

    /// Roughly what the row takes in memory, in bytes.
    var cost: Int {
        // The cached object holds the same fields once more, less compactly.
        512 + record.bytes.count * (cached == nil ? 1 : 4) + (body?.count ?? 0)
    }
}

/// Refuses a response that comes too late when it is stored: it would replace a response that was requested later, or
/// ``isRemoved`` returns true.
struct LateResponseFence: Sendable {
    /// When the response was requested.
    let requested: Date
    /// The clock. A stored request time in the future does not count, because the clock was set back since then.
    let time: any TimeSource
    /// Whether another process has removed the entries of the URL since the request.
    let isRemoved: @Sendable () -> Bool

    /// Whether the response of that record was requested later.
    func yields(to record: EncodedRecord) -> Bool {
        record.requestTime.map { $0 > requested && $0 <= time.now } ?? false
    }
}

/// The length and the checksum of a body, which are stored with its entry.
package struct StoredBody: Hashable, Sendable {
    package let length: Int
    package let checksum: UInt64

    /// Bodies up to this size, in bytes, are in the rows of their entries, so that a lookup finds both at once.
    static let largestInRow = 1024
    /// Larger bodies up to this size are in a table of their own, and still larger ones in files (Documentation/Design/Storage.md).
    package static let largestInDatabase = 16 << 10

    package init(length: Int, checksum: UInt64) { (self.length, self.checksum) = (length, checksum) }
    package init(_ body: Data) {
        self.init(length: body.count, checksum: body.withUnsafeBytes { Checksum64.of($0) })
    }

    var isInFile: Bool { length > Self.largestInDatabase }
}

/// The checksum of a row of the database. It covers all columns except `used` and the body, which has a checksum of its own.
enum RowChecksum {
    static func of(
        record: UnsafeRawBufferPointer, id: Int64, urlKey: UInt64, variant: UInt64, revision: Int64, stored: Int64,
        body: StoredBody
    ) -> UInt64 {
        let columns = (
            id.littleEndian, urlKey.littleEndian, variant.littleEndian, revision.littleEndian, stored.littleEndian,
            Int64(body.length).littleEndian, body.checksum.littleEndian
        )
        return Checksum64.of(record, seed: withUnsafeBytes(of: columns) { Checksum64.of($0) })
    }
}

extension Date {
    /// Milliseconds since 1970, as the database stores times, limited to what a `Double` represents exactly.
    package var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded(.down)
        return value.isNaN ? 0 : Int64(max(-9e15, min(9e15, value)))
    }

    /// Microseconds since 1970, for files and servers that processes share; 0 for an earlier time.
    package var microseconds: UInt64 {
        let value = (timeIntervalSince1970 * 1e6).rounded(.down)
        return UInt64(max(0, min(value.isNaN ? 0 : value, 1e18)))
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
