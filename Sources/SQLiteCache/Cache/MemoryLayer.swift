import Foundation
import SynchronizerSupport

/// What memory knows of the URLs that were used last, limited in bytes. A lookup here neither touches the disk nor copies
/// the body.
struct MemoryLayer {
    /// What is known of one URL.
    private struct Page {
        var url: String
        /// Newest first.
        var rows: [StoredRow]
        /// Whether `rows` were all rows of the URL in `epoch`.
        var isComplete: Bool
        var epoch: Int
        var cost: Int
    }

    private var pages = LRUList<UInt64, Page>()
    private(set) var cost = 0
    /// Counts how often all pages were made incomplete.
    private(set) var epoch = 0

    /// In bytes, of bodies and fields.
    var capacity: Int {
        didSet { evict() }
    }

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// All rows of a URL, newest first; nil if memory does not know all of them.
    mutating func completeRows(of url: String, urlKey: UInt64) -> [StoredRow]? {
        guard let page = pages[urlKey], page.isComplete, page.epoch == epoch, page.url == url else { return nil }
        pages.markUsed(urlKey)
        return page.rows
    }

    /// The rows of a URL that memory knows, which may not be all.
    func knownRows(of url: String, urlKey: UInt64) -> [StoredRow] {
        guard let page = pages[urlKey], page.url == url else { return [] }
        return page.rows
    }

    /// The responses that only memory has.
    var memoryOnlyRows: [StoredRow] { pages.allKeys.flatMap { pages[$0]?.rows.filter(\.isMemoryOnly) ?? [] } }

    /// Remembers all rows of a URL.
    mutating func fill(_ rows: [StoredRow], of url: String, urlKey: UInt64) {
        guard capacity > 0 else { return }
        replacePage(urlKey, url: url, rows: rows, isComplete: true)
    }

    mutating func apply(_ change: Change) {
        guard let key = change.urlKey else {
            for key in pages.allKeys { apply(change, to: key) }
            return
        }
        if case .store(let row) = change, pages[key]?.url != row.url {
            replacePage(key, url: row.url, rows: [row], isComplete: false)
        } else {
            apply(change, to: key)
        }
    }

    /// Keeps the body of a known response, and the object that was made from it.
    mutating func keep(body: Data, cached: CachedURLResponse?, for row: StoredRow) {
        guard var page = pages[row.urlKey], let index = page.rows.firstIndex(where: { $0.id == row.id }) else { return }
        page.rows[index].body = body
        if let cached, page.rows[index].revision == row.revision { page.rows[index].cached = cached }
        replaceRows(of: page, urlKey: row.urlKey, with: page.rows)
    }

    /// Keeps responses that the disk did not take. Drops derived objects: they can be made again, and would evict responses.
    mutating func keepOffDisk(_ rows: [StoredRow]) {
        for row in rows {
            guard var page = pages[row.urlKey], let index = page.rows.firstIndex(where: { $0.id == row.id }) else {
                continue
            }
            if row.isDerived { page.rows.remove(at: index) } else { page.rows[index].isMemoryOnly = true }
            replaceRows(of: page, urlKey: row.urlKey, with: page.rows)
        }
    }

    /// Keeps every response whose body is in memory, because the disk no longer has any response.
    mutating func keepAllOffDisk() {
        for key in pages.allKeys {
            guard var page = pages[key] else { continue }
            page.rows.removeAll { $0.body == nil || $0.isDerived }
            for index in page.rows.indices { page.rows[index].isMemoryOnly = true }
            replacePage(key, url: page.url, rows: page.rows, isComplete: true)
        }
    }

    /// Makes all pages incomplete, because another process has changed the database.
    mutating func invalidateAll() {
        epoch += 1
    }

    mutating func dropMemoryOnly() {
        invalidateAll()
        for key in pages.allKeys {
            guard let page = pages[key], page.rows.contains(where: \.isMemoryOnly) else { continue }
            replaceRows(of: page, urlKey: key, with: page.rows.filter { !$0.isMemoryOnly })
        }
    }

    private mutating func apply(_ change: Change, to key: UInt64) {
        guard let page = pages[key] else { return }
        var rows = page.rows
        change.apply(to: &rows, of: page.url)
        replaceRows(of: page, urlKey: key, with: rows)
    }

    private mutating func replaceRows(of page: Page, urlKey: UInt64, with rows: [StoredRow]) {
        replacePage(urlKey, url: page.url, rows: rows, isComplete: page.isComplete && page.epoch == epoch)
    }

    private mutating func replacePage(_ key: UInt64, url: String, rows: [StoredRow], isComplete: Bool) {
        if let old = pages.remove(key) { cost -= old.cost }
        var page = Page(url: url, rows: [], isComplete: isComplete, epoch: epoch, cost: 0)
        for row in rows {
            if let row = fitting(row, in: capacity - page.cost) {
                page.rows.append(row)
                page.cost += row.cost
            }
        }
        guard !page.rows.isEmpty, page.cost <= capacity else { return }
        cost += page.cost
        pages.insert(page, for: key)
        evict()
    }

    /// The row, without its body if it would take more than `room`; nil if then no layer would have the body.
    private func fitting(_ row: StoredRow, in room: Int) -> StoredRow? {
        guard row.cost > room else { return row }
        var row = row
        (row.body, row.cached) = (nil, nil)
        return row.isMemoryOnly ? nil : row
    }

    private mutating func evict() {
        while cost > capacity, let oldest = pages.leastRecentlyUsed {
            cost -= pages.remove(oldest)?.cost ?? 0
        }
    }
}
