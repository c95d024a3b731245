#if canImport(Darwin)
    import Foundation

    extension FileSystem {
        /// The commands of `fcntl` for locks that a process holds. Instances in one process that have a disk capacity and use the
        /// same directory share one descriptor.
        static let lockCommands = (set: F_SETLK, get: F_GETLK)

        /// Apple's systems have no files without names.
        static func openNameless(in folder: String) -> Int32 { -1 }

        static let linksOpenFiles = false

        /// Makes a new file that shares the blocks of an open one until either is changed (APFS); returns whether the file
        /// system can.
        static func clone(_ file: Int32, to path: String) -> Bool { fclonefileat(file, AT_FDCWD, path, 0) == 0 }

        /// Apple's systems can't link an open file. File systems that can't clone files are rare there.
        static func link(_ file: Int32, to path: String, besides names: @autoclosure () -> Int) -> Bool { false }
    }

    extension stat {
        var changeTime: timespec { st_ctimespec }

        /// When the content was last changed, in seconds since 1970.
        var modified: Int { st_mtimespec.tv_sec }
    }
#endif
