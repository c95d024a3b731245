import Foundation

/// A stored response as the layers of the cache pass it to each other.
struct StoredRow: Sendable {
    let id: Int64
    let url: String
    let urlKey: UInt64
    /// Grows with each store and update of any response: what is newest has the largest.
    var revision: Int64
    /// When it was stored or updated, in milliseconds since 1970.
    var stored: Int64
    var record: EncodedRecord
    var variant: UInt64
    let bodySize: Int
    /// nil while it is on the disk only.
    var body: Data?
    /// The object that a caller gave or was given, if there is one.
    var cached: CachedURLResponse?
    /// Whether the storage policy keeps it off the disk.
    var isMemoryOnly = false

    /// A row that may be in the database, where no more of it is known.
    static func placeholder(_ id: Int64, _ url: String, _ urlKey: UInt64, _ variant: UInt64) -> StoredRow {
        StoredRow(
            id: id, url: url, urlKey: urlKey, revision: 0, stored: 0, record: EncodedRecord(), variant: variant,
            bodySize: 0)
    }

    /// What keeping it in memory takes, in bytes, about.
    var cost: Int {
        // The object that was made of it holds the same once more, less tightly.
        512 + record.bytes.count * (cached == nil ? 1 : 4) + (body?.count ?? 0)
    }
}

/// Identifiers and revisions: unique among the processes that share a directory, and growing with time.
enum GrowingID {
    private static let last = Locked<Int64>(0)

    /// 51 bits of microseconds since 2020, which last until 2091, and 12 random bits for what processes do at once.
    static func next() -> Int64 {
        let epoch = 1_577_836_800.0
        let microseconds = max(0, min((Date().timeIntervalSince1970 - epoch) * 1e6, 2e15))
        let proposed = Int64(microseconds) << 12 | Int64.random(in: 0..<4096)
        return last.withLock { last in
            last = max(last + 1, proposed)
            return last
        }
    }
}

extension Date {
    /// Milliseconds since 1970, as the database keeps times; a time that no clock shows becomes the nearest it can.
    package var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded(.down)
        return value.isNaN ? 0 : Int64(max(-9e15, min(9e15, value)))
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
