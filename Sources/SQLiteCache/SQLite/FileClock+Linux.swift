#if !canImport(Darwin)
    import Foundation
    internal import CSQLite

    /// The clock by which the system stamps the changes of files (`current_time` of the kernel).
    enum FileClock {
        static let identifier = CLOCK_REALTIME_COARSE

        /// Whether this clock stamps the files of an open directory. On network file systems, the clock of a server does.
        static func stampsFiles(of directory: Int32) -> Bool {
            var status = statfs()
            return fstatfs(directory, &status) == 0 && localTypes.contains(UInt32(truncatingIfNeeded: status.f_type))
        }

        /// ext2 to ext4, XFS, btrfs, bcachefs, F2FS, ZFS, tmpfs and overlayfs (linux/magic.h).
        private static let localTypes: Set<UInt32> = [
            0xEF53, 0x5846_5342, 0x9123_683E, 0xCA45_1A4E, 0xF2F5_2010, 0x2FC1_2FC1, 0x0102_1994, 0x794C_7630,
        ]
    }
#endif
