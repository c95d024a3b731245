#if canImport(Darwin)
    import Foundation

    /// The clock by which the system stamps the changes of files.
    enum FileClock {
        static let identifier = CLOCK_REALTIME

        /// Whether this clock stamps the files of an open directory. On network file systems, the clock of a server does.
        static func stampsFiles(of directory: Int32) -> Bool {
            var status = statfs()
            return fstatfs(directory, &status) == 0 && status.f_flags & UInt32(MNT_LOCAL) != 0
        }
    }
#endif
