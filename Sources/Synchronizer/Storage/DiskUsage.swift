import Foundation

/// How the sizes of a cache follow from its capacity.
struct DiskBudget {
    /// In bytes, on the disk.
    let capacity: Int64

    init(capacity: Int) {
        self.capacity = Int64(max(0, capacity))
    }

    /// How large the write-ahead log may grow before it is written into the database, in bytes.
    var writeAheadLog: Int64 { max(32 << 10, min(4 << 20, capacity / 20)) }

    /// What database and body files may hold: the log, and SQLite's shared memory of at least 32 KB, come on top.
    var content: Int64 { max(0, capacity - writeAheadLog - (40 << 10)) }

    /// To what it is brought down when it is full, so that not every store evicts.
    var preferredContent: Int64 { content / 10 * 9 }

    /// What one transaction takes, in bytes, but at least one response.
    var batchBytes: Int { Int(min(4 << 20, writeAheadLog)) }

    /// The largest body that is kept.
    var largestBody: Int { Int(content / 2) }
}

/// What a cache takes on the disk, its log not counted.
struct DiskUsage {
    /// In bytes, at least 512.
    let pageSize: Int64
    /// Of the database, the empty ones included.
    let pages: Int64
    let freePages: Int64
    /// The body files and what is set aside, in bytes.
    let files: Int64

    /// Takes numbers as a damaged database may have them, too.
    init(pageSize: Int64, pages: Int64, freePages: Int64, files: Int64) {
        self.pageSize = max(512, min(pageSize, 65_536))
        self.pages = max(0, min(pages, 1 << 32))
        self.freePages = max(0, min(freePages, self.pages))
        self.files = Self.plausible(files)
    }

    /// A number of bytes that can be added up.
    static func plausible(_ bytes: Int64) -> Int64 { max(0, min(bytes, 1 << 48)) }

    /// What a file of that length takes on most file systems, in bytes.
    static func blocks(_ length: Int64) -> Int64 { (length + 4095) / 4096 * 4096 }

    /// What is stored, in bytes.
    var content: Int64 { (pages - freePages) * pageSize + files }
    /// What is empty, in bytes.
    var free: Int64 { freePages * pageSize }
}
