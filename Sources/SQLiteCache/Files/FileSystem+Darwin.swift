#if canImport(Darwin)
    import Foundation

    extension FileSystem {
        /// Makes a new file that shares the blocks of an open one until either is changed (APFS); returns whether the file
        /// system can.
        static func clone(_ file: Int32, to path: String) -> Bool { fclonefileat(file, AT_FDCWD, path, 0) == 0 }

        /// An open file can't be linked here. File systems that do not clone are rare.
        static func link(_ file: Int32, to path: String, besides names: Int) -> Bool { false }
    }
#endif
