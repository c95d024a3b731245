#if !canImport(Darwin)
    import Foundation

    extension FileSystem {
        /// The commands of `fcntl` for locks of an open file description (F_OFD_SETLK, F_OFD_GETLK, macros that Swift does not
        /// import). Another `open` of the same file in this process neither shares nor drops these locks.
        static let lockCommands = (set: Int32(37), get: Int32(36))

        /// Opens a file without a name, which is deleted when the process ends, unless it is linked before. Negative if that is
        /// not possible.
        static func openNameless(in folder: String) -> Int32 {
            let nameless: Int32 = 0o20_000_000 | O_DIRECTORY  // O_TMPFILE, a macro that Swift does not import
            return open(folder, O_RDWR | nameless | O_CLOEXEC, 0o600)
        }

        /// Whether `link` works: a `chroot` may have no `/proc`.
        static let linksOpenFiles = access("/proc/self/fd", F_OK) == 0

        /// Makes a new file that shares the blocks of an open one until either is changed (btrfs, XFS, bcachefs); returns
        /// whether the file system can.
        static func clone(_ file: Int32, to path: String) -> Bool {
            var status = stat()
            guard fstat(file, &status) == 0, FileSizeLimit.allows(Int(status.st_size)) else { return false }
            let clone: UInt = 0x4004_9409  // FICLONE, a macro that Swift does not import
            return (try? make(path) { ioctl($0, clone, file) == 0 }) ?? false
        }

        /// Gives an open file another name if it has exactly `names` names now, so none at a caller's destination. Returns whether
        /// it did.
        static func link(_ file: Int32, to path: String, besides names: @autoclosure () -> Int) -> Bool {
            var status = stat()
            guard fstat(file, &status) == 0, Int(status.st_nlink) == names(), status.st_uid == geteuid(),
                linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
            else { return false }
            // Meanwhile another process may have linked the file, or the cache may have removed its own name.
            if fstat(file, &status) == 0, Int(status.st_nlink) <= names() + 1 { return true }
            unlink(path)
            return false
        }
    }

    extension stat {
        var changeTime: timespec { st_ctim }

        /// When the content was last changed, in seconds since 1970.
        var modified: Int { st_mtim.tv_sec }
    }
#endif
