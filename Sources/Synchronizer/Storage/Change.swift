import Foundation

/// What can happen to the cache. The same rules hold in memory, for what waits to be written, and in the database.
enum Change: Sendable {
    /// Keeps a response, in place of what has its URL and variant.
    case store(StoredRow)
    /// Replaces all but the body of the response with that identifier, if it is still there.
    case update(id: Int64, urlKey: UInt64, record: EncodedRecord, variant: UInt64, revision: Int64, stored: Int64)
    case remove(id: Int64, urlKey: UInt64)
    case removeVariant(url: String, urlKey: UInt64, variant: UInt64)
    case removeURL(String, urlKey: UInt64)
    /// Removes what was stored after that moment, in milliseconds since 1970.
    case removeSince(Int64)
    case removeAll

    /// How many variants of one URL are kept: a server that varies by everything does not make look-ups slow.
    static let mostVariants = 64

    /// The URL that is concerned; nil if all are.
    var urlKey: UInt64? {
        switch self {
        case .store(let row): row.urlKey
        case .update(_, let urlKey, _, _, _, _), .remove(_, let urlKey), .removeVariant(_, let urlKey, _),
            .removeURL(_, let urlKey):
            urlKey
        case .removeSince, .removeAll: nil
        }
    }

    var isStore: Bool {
        if case .store = self { true } else { false }
    }

    var bodySize: Int {
        if case .store(let row) = self { row.bodySize } else { 0 }
    }

    /// Does it to all that is stored for one URL, newest first. Doing it twice is doing it once.
    func apply(to rows: inout [StoredRow], of url: String) {
        switch self {
        case .store(let row):
            guard row.url == url else { return }
            rows.removeAll { $0.variant == row.variant || $0.id == row.id }
            rows.insert(row, at: 0)
            if rows.count > Self.mostVariants { rows.removeLast(rows.count - Self.mostVariants) }
        case .update(let id, _, let record, let variant, let revision, let stored):
            guard let index = rows.firstIndex(where: { $0.id == id }) else { return }
            var row = rows[index]
            (row.record, row.variant, row.revision, row.stored) = (record, variant, revision, stored)
            row.cached = nil
            rows.removeAll { $0.variant == variant || $0.id == id }
            rows.insert(row, at: 0)
        case .remove(let id, _): rows.removeAll { $0.id == id }
        case .removeVariant(let of, _, let variant):
            if of == url { rows.removeAll { $0.variant == variant } }
        case .removeURL(let of, _):
            if of == url { rows.removeAll() }
        case .removeSince(let moment): rows.removeAll { $0.stored > moment }
        case .removeAll: rows.removeAll()
        }
    }
}
