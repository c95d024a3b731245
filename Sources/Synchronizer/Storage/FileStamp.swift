import Foundation

/// What the system knows of a file's content: while none of it changes, nobody has written to the file.
struct FileStamp: Equatable, Sendable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    /// In nanoseconds since 1970.
    private let modified: Int64
    private let changed: Int64

    /// nil if the file can't be asked.
    init?(of file: Int32) {
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        modified = status.modificationTime.nanoseconds
        changed = status.changeTime.nanoseconds
    }

    /// Whether the last change is so long ago that another one would not have the same time: clocks of file systems
    /// tick slowly, and some have whole seconds only.
    func isSettled(at now: Date) -> Bool {
        Double(max(modified, changed)) / 1e9 < now.timeIntervalSince1970 - 3
    }
}

extension timespec {
    fileprivate var nanoseconds: Int64 {
        Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000).partialValue &+ Int64(tv_nsec)
    }
}

#if canImport(Darwin)
    extension stat {
        fileprivate var modificationTime: timespec { st_mtimespec }
        fileprivate var changeTime: timespec { st_ctimespec }
    }
#else
    extension stat {
        fileprivate var modificationTime: timespec { st_mtim }
        fileprivate var changeTime: timespec { st_ctim }
    }
#endif
