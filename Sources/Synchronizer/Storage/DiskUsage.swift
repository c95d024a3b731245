import Foundation

/// How the sizes of a cache follow from its capacity.
struct DiskBudget {
    /// In bytes, on the disk.
    let capacity: Int64

    init(capacity: Int) {
        self.capacity = Int64(max(0, capacity))
    }

    /// How large SQLite's journal may become, about: it holds each page that a transaction changes, as it was.
    var journal: Int64 { max(64 << 10, min(4 << 20, capacity / 20)) }

    /// What database and body files may hold: the journal comes on top.
    var content: Int64 { max(0, capacity - journal) }

    /// To what it is brought down when it is full, so that not every store evicts.
    var preferredContent: Int64 { content / 10 * 9 }

    /// What one transaction stores, in bytes, but at least one response.
    var batchBytes: Int { Int(journal) }

    /// How many changes one transaction makes: each may concern a page of each table and index.
    var batchCount: Int { max(4, min(256, Int(journal >> 14))) }

    /// How many entries one transaction removes. They share pages.
    var removalCount: Int { max(8, min(4096, Int(journal >> 10))) }

    /// The largest body that is kept.
    var largestBody: Int { Int(content / 2) }
}

/// What a cache takes on the disk, its journal not counted.
struct DiskUsage {
    /// In bytes, at least 512.
    let pageSize: Int64
    /// Of the database, the empty ones included.
    let pages: Int64
    let freePages: Int64
    /// The body files, in bytes.
    let files: Int64

    /// Takes numbers as a damaged database may have them, too.
    init(pageSize: Int64, pages: Int64, freePages: Int64, files: Int64) {
        self.pageSize = max(512, min(pageSize, 65_536))
        self.pages = max(0, min(pages, 1 << 32))
        self.freePages = max(0, min(freePages, self.pages))
        self.files = max(0, min(files, 1 << 48))
    }

    /// What is stored, in bytes.
    var content: Int64 { (pages - freePages) * pageSize + files }
    /// What is empty, in bytes.
    var free: Int64 { freePages * pageSize }
}
