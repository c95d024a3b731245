#if canImport(Darwin)
    import Foundation

    extension FileSystem {
        /// The commands of `fcntl` for locks of a process. Instances of one process on a directory share one file.
        static let lockCommands = (set: F_SETLK, get: F_GETLK)

        /// There are no files without names here.
        static func openNameless(in folder: String) -> Int32 { -1 }

        /// Makes a new file that shares the blocks of an open one until either is changed (APFS); returns whether the file
        /// system can.
        static func clone(_ file: Int32, to path: String) -> Bool { fclonefileat(file, AT_FDCWD, path, 0) == 0 }

        /// An open file can't be linked here. File systems that do not clone are rare.
        static func link(_ file: Int32, to path: String, besides names: @autoclosure () -> Int) -> Bool { false }
    }

    extension stat {
        var changeTime: timespec { st_ctimespec }

        /// When the content was last changed, in seconds since 1970.
        var modified: Int { st_mtimespec.tv_sec }
    }
#endif
