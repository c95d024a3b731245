import Foundation
import SynchronizerSupport

/// A change to the cache. It has the same effect in memory, in a lookup's replay of pending changes, and in the database.
enum Change: Sendable {
    /// Stores a response, replacing the one with the same URL and variant.
    case store(StoredRow)
    /// Replaces everything but the body of a response, if it is still stored.
    case update(RowUpdate)
    case remove(id: Int64, urlKey: UInt64)
    case removeVariant(url: String, urlKey: UInt64, variant: UInt64)
    case removeURL(String, urlKey: UInt64)
    /// Removes the entries that were stored at that moment or later, in milliseconds since 1970.
    case removeSince(Int64)
    case removeAll

    /// How many variants of one URL are kept. A server that varies by everything must not slow down lookups.
    static let maximumVariants = 64

    /// The URL that the change concerns; nil if it concerns all.
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

    /// The revision of the row that the change makes; nil if it makes none.
    var revision: Int64? {
        switch self {
        case .store(let row): row.revision
        case .update(let update): update.revision
        default: nil
        }
    }

    /// What may refuse the change when it is written, and the variant that it changes.
    var fence: (fence: LateResponseFence, urlKey: UInt64, variant: UInt64)? {
        switch self {
        case .store(let row): row.fence.map { ($0, row.urlKey, row.variant) }
        case .update(let update): update.fence.map { ($0, update.urlKey, update.variant) }
        default: nil
        }
    }

    /// Whether the change may need many transactions.
    var isLong: Bool {
        if case .removeSince = self { true } else { false }
    }

    /// Whether the change removes responses that must not come back. A response that a newer one only replaces may come back, as
    /// if the newer response had not been stored.
    var isRemoval: Bool {
        switch self {
        case .remove, .removeURL, .removeSince, .removeAll: true
        case .store, .update, .removeVariant: false
        }
    }

    /// Roughly the memory that the change takes while it is pending, in bytes.
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

    /// Applies the change to all rows of one URL, newest first.
    @inline(never)
    func apply(to rows: inout [StoredRow], of url: String) {
        switch self {
        case .store(let row):
            guard row.url == url else { return }
            rows.removeAll { $0.variant == row.variant || $0.id == row.id }
            rows.insert(row, at: 0)
            if rows.count > Self.maximumVariants { rows.removeLast(rows.count - Self.maximumVariants) }
        case .update(let update): update.apply(to: &rows)
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

/// Replaces everything but the body of a response.
struct RowUpdate: Sendable {
    let id: Int64
    let url: String
    let urlKey: UInt64
    let record: EncodedRecord
    let variant: UInt64
    let revision: Int64
    let stored: Int64
    /// Whether only memory has the response. The response still replaces one of the same variant on the disk.
    let isMemoryOnly: Bool
    /// As ``StoredRow/fence``.
    var fence: LateResponseFence?

    fileprivate func apply(to rows: inout [StoredRow]) {
        guard let index = rows.firstIndex(where: { $0.id == id }) else {
            // A later change in the database may already have removed the response. Even so, the responses that this update
            // replaced must not come back.
            rows.removeAll { $0.variant == variant && $0.revision < revision }
            return
        }
        var row = rows[index]
        (row.record, row.variant) = (record, variant)
        (row.revision, row.stored, row.cached) = (revision, stored, nil)
        rows.removeAll { $0.variant == row.variant || $0.id == row.id }
        rows.insert(row, at: 0)
    }
}

extension RowUpdate {
    /// Creates the update that replaces the store of `row`, if the database already has an entry with its identifier: both are
    /// copies of one entry of another level. The body is the same, so the update has only the rest.
    init(_ row: StoredRow) {
        self.init(
            id: row.id, url: row.url, urlKey: row.urlKey, record: row.record, variant: row.variant,
            revision: row.revision, stored: row.stored, isMemoryOnly: row.isMemoryOnly, fence: row.fence)
    }
}
