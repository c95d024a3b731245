import Foundation

/// What is known in memory of the URLs that were used last, bounded by bytes. Finding a response here neither touches
/// the disk nor copies the body.
struct MemoryLayer {
    /// What is known of one URL.
    private struct Page {
        var url: String
        /// Newest first.
        var rows: [StoredRow]
        /// Whether `rows` were all there is, when `epoch` was.
        var isComplete: Bool
        var epoch: Int
        var cost: Int
    }

    private var pages = LRUList<UInt64, Page>()
    private(set) var cost = 0
    /// Counts how often all that is known has been doubted.
    private(set) var epoch = 0

    /// In bytes, of bodies and fields.
    var capacity: Int {
        didSet { evict() }
    }

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// All that is stored for a URL, newest first; nil if that can't be said without the disk.
    mutating func completeRows(of url: String, key: UInt64) -> [StoredRow]? {
        guard let page = pages[key], page.isComplete, page.epoch == epoch, page.url == url else { return nil }
        pages.markUsed(key)
        return page.rows
    }

    /// What is known for a URL, which may not be all.
    func knownRows(of url: String, key: UInt64) -> [StoredRow] {
        guard let page = pages[key], page.url == url else { return [] }
        return page.rows
    }

    /// The responses that are on no disk.
    var memoryOnlyCount: Int {
        pages.allKeys.reduce(0) { count, key in count + (pages[key]?.rows.count { $0.isMemoryOnly } ?? 0) }
    }

    /// Remembers all that is stored for a URL.
    mutating func fill(_ rows: [StoredRow], of url: String, key: UInt64) {
        guard capacity > 0 else { return }
        replace(rows, isComplete: true, of: url, key: key)
    }

    mutating func apply(_ change: Change) {
        guard let key = change.urlKey else {
            for key in pages.allKeys { apply(change, to: key) }
            return
        }
        if case .store(let row) = change, pages[key]?.url != row.url {
            replace([row], isComplete: false, of: row.url, key: key)
        } else {
            apply(change, to: key)
        }
    }

    /// Keeps a body, or an object, that was made for a response that is known here.
    mutating func keep(_ body: Data, _ cached: CachedURLResponse?, for row: StoredRow) {
        guard var page = pages[row.urlKey], let index = page.rows.firstIndex(where: { $0.id == row.id }) else { return }
        page.rows[index].body = body
        if let cached, page.rows[index].revision == row.revision { page.rows[index].cached = cached }
        replace(page.rows, isComplete: page.isComplete && page.epoch == epoch, of: page.url, key: row.urlKey)
    }

    /// The disk has not taken these, so that they are nowhere else.
    mutating func keepWithoutDisk(_ rows: [StoredRow]) {
        for row in rows {
            guard var page = pages[row.urlKey], let index = page.rows.firstIndex(where: { $0.id == row.id }) else {
                continue
            }
            page.rows[index].isMemoryOnly = true
            replace(page.rows, isComplete: page.isComplete && page.epoch == epoch, of: page.url, key: row.urlKey)
        }
    }

    /// From now on there is nothing but memory.
    mutating func keepWithoutDisk() {
        for key in pages.allKeys {
            guard var page = pages[key] else { continue }
            page.rows.removeAll { $0.body == nil }
            for index in page.rows.indices { page.rows[index].isMemoryOnly = true }
            replace(page.rows, isComplete: true, of: page.url, key: key)
        }
    }

    /// From now on nothing is complete: another process has changed the database.
    mutating func doubtAll() {
        epoch += 1
    }

    private mutating func apply(_ change: Change, to key: UInt64) {
        guard let page = pages[key] else { return }
        var rows = page.rows
        change.apply(to: &rows, of: page.url)
        replace(rows, isComplete: page.isComplete && page.epoch == epoch, of: page.url, key: key)
    }

    private mutating func replace(_ rows: [StoredRow], isComplete: Bool, of url: String, key: UInt64) {
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

    /// A body that is too large for the memory is kept on the disk only.
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
