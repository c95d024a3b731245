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

    /// The bodies that one transaction takes, at least one.
    var batchBytes: Int { Int(min(4 << 20, writeAheadLog)) }

    /// The largest body that is kept.
    var largestBody: Int { Int(content / 2) }
}

/// What a cache takes on the disk, in bytes.
struct DiskUsage {
    /// The bodies and rows that are stored, in whole pages.
    var content: Int64
    /// Pages of the database that are empty.
    var free: Int64
}
