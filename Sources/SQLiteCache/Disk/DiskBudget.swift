import Foundation

/// The sizes that follow from the capacity of a cache.
struct DiskBudget {
    /// In bytes, on the disk.
    let capacity: Int64

    init(capacity: Int) {
        self.capacity = Int64(max(0, capacity))
    }

    /// The approximate limit of SQLite's journal, which has the original content of each page that a transaction changes.
    var journal: Int64 { max(64 << 10, min(4 << 20, capacity / 20)) }

    /// The limit of the database and the body files together. The journal comes on top.
    var content: Int64 { max(0, capacity - journal) }

    /// The size down to which an eviction removes entries, so that not every store evicts.
    var preferredContent: Int64 { content / 10 * 9 }

    /// The bytes that one transaction stores at most, unless a single response is larger.
    var batchBytes: Int { Int(journal) }

    /// The largest number of changes that one transaction makes, of entries that it removes or marks as used, and of free pages that
    /// it gives back. Each may change a page of each table and index, and all changed pages must fit into the journal.
    var batchCount: Int { max(4, min(256, Int(journal >> 14))) }

    /// The largest body that is stored.
    var largestBody: Int { Int(content / 2) }

    /// The largest record, in bytes: each lookup reads it, and SQLite takes no row of 1 GB.
    private static let largestRecord = 64 << 20

    /// Whether the disk takes a response: the body, and the header and user info in the record.
    func accepts(_ record: EncodedRecord, bodySize: Int) -> Bool {
        record.bytes.count <= Self.largestRecord && bodySize <= largestBody - record.bytes.count
    }
}

/// The disk usage of a cache without its journal.
struct DiskUsage {
    /// In bytes, at least 512.
    let pageSize: Int64
    /// The pages of the database, free ones included.
    let pages: Int64
    let freePages: Int64
    /// The bytes of the body files.
    let files: Int64

    /// Limits the numbers to plausible ones, because a corrupt database may contain any.
    init(pageSize: Int64, pages: Int64, freePages: Int64, files: Int64) {
        self.pageSize = max(512, min(pageSize, 65_536))
        self.pages = max(0, min(pages, Int64(1) << 32))
        self.freePages = max(0, min(freePages, self.pages))
        self.files = max(0, min(files, Int64(1) << 48))
    }

    /// The bytes in use of the database.
    var database: Int64 { (pages - freePages) * pageSize }
    /// The bytes in use.
    var content: Int64 { database + files }
    /// The bytes of free pages.
    var free: Int64 { freePages * pageSize }

    /// The bytes by which the usage will exceed a limit when a change with this need has been made.
    func excess(after need: DiskNeed, over limit: Int64) -> Int64 {
        // The database fills its free pages before it grows.
        content + max(free, need.database) + need.files - limit
    }
}

/// The bytes that a change adds.
struct DiskNeed {
    var database: Int64 = 0
    var files: Int64 = 0

    mutating func add(_ change: Change, budget: DiskBudget) {
        let record: EncodedRecord
        var bodySize = 0
        switch change {
        case .store(let row): (record, bodySize) = (row.record, row.bodySize)
        case .update(let update): record = update.record
        default: return
        }
        guard budget.accepts(record, bodySize: bodySize) else { return }
        database += 4096 + Int64(record.bytes.count)
        if bodySize > StoredBody.largestInDatabase {
            files += FileSystem.nominalBytes(length: Int64(bodySize))
        } else {
            database += Int64(bodySize)
        }
    }
}
