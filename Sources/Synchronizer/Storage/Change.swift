import Foundation

/// What can happen to the cache. The same rules hold in memory, for what waits to be written, and in the database.
enum Change: Sendable {
    /// Keeps a response, in place of what has its URL and variant.
    case store(StoredRow)
    /// Replaces all but the body of the response with that identifier, if it is still there.
    case update(RowUpdate)
    case remove(id: Int64, urlKey: UInt64)
    case removeVariant(url: String, urlKey: UInt64, variant: UInt64)
    case removeURL(String, urlKey: UInt64)
    /// Removes what was stored at that moment or later, in milliseconds since 1970.
    case removeSince(Int64)
    case removeAll

    /// How many variants of one URL are kept: a server that varies by everything does not make look-ups slow.
    static let mostVariants = 64

    /// The URL that is concerned; nil if all are.
    var urlKey: UInt64? {
        switch self {
        case .store(let row): row.urlKey
        case .update(let update): update.urlKey
        case .remove(_, let urlKey), .removeVariant(_, let urlKey, _), .removeURL(_, let urlKey): urlKey
        case .removeSince, .removeAll: nil
        }
    }

    var isStore: Bool {
        if case .store = self { true } else { false }
    }

    /// That of the row which it makes; nil if it makes none.
    var revision: Int64? {
        switch self {
        case .store(let row): row.revision
        case .update(let update): update.revision
        default: nil
        }
    }

    func isUpdate(of row: Int64) -> Bool {
        if case .update(let update) = self { update.id == row } else { false }
    }

    /// Whether writing it may take many transactions.
    var isLong: Bool {
        if case .removeSince = self { true } else { false }
    }

    /// Whether somebody wanted responses gone, which then must not come back. What only makes way for another one of its
    /// URL is as good as that one not having been stored.
    var isRemoval: Bool {
        switch self {
        case .remove, .removeURL, .removeSince, .removeAll: true
        case .store, .update, .removeVariant: false
        }
    }

    /// What keeping it until it is written takes, in bytes, about.
    var cost: Int {
        switch self {
        case .store(let row): row.cost
        case .update(let update): 512 + update.record.bytes.count
        default: 256
        }
    }

    var bodySize: Int {
        if case .store(let row) = self { row.bodySize } else { 0 }
    }

    /// Does it to all that is stored for one URL, newest first.
    func apply(to rows: inout [StoredRow], of url: String) {
        switch self {
        case .store(let row):
            guard row.url == url else { return }
            rows.removeAll { $0.variant == row.variant || $0.id == row.id }
            rows.insert(row, at: 0)
            if rows.count > Self.mostVariants { rows.removeLast(rows.count - Self.mostVariants) }
        case .update(let update):
            guard let index = rows.firstIndex(where: { $0.id == update.id }) else {
                // The disk may know already that it was removed after this. What it has replaced must not come back.
                rows.removeAll { $0.variant == update.variant && $0.revision < update.revision }
                return
            }
            var row = rows[index]
            (row.record, row.variant) = (update.record, update.variant)
            (row.revision, row.stored, row.cached) = (update.revision, update.stored, nil)
            rows.removeAll { $0.variant == row.variant || $0.id == row.id }
            rows.insert(row, at: 0)
        case .remove(let id, _): rows.removeAll { $0.id == id }
        case .removeVariant(let of, _, let variant):
            if of == url { rows.removeAll { $0.variant == variant } }
        case .removeURL(let of, _):
            if of == url { rows.removeAll() }
        case .removeSince(let moment): rows.removeAll { $0.stored >= moment }
        case .removeAll: rows.removeAll()
        }
    }
}

/// All but the body of a response, new.
struct RowUpdate: Sendable {
    let id: Int64
    let url: String
    let urlKey: UInt64
    let record: EncodedRecord
    let variant: UInt64
    let revision: Int64
    let stored: Int64
    /// Whether the response is on no disk, where its new variant still replaces what is there.
    let isMemoryOnly: Bool
}

/// Counts changes, so that what was read from the disk before a change does not get into memory after it.
struct ChangeCounts {
    private var counts = [Int](repeating: 0, count: 1024)

    /// Grows with each change that may concern the URL.
    subscript(urlKey: UInt64) -> Int { counts[Int(urlKey % 1024)] }

    mutating func count(_ urlKey: UInt64?) {
        if let urlKey {
            counts[Int(urlKey % 1024)] += 1
        } else {
            for index in counts.indices { counts[index] += 1 }
        }
    }
}
