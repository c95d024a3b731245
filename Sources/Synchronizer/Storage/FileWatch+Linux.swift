#if os(Linux) || os(Android)
    import Foundation

    /// Tells whether an open database is still what it was, without walking its path each time.
    ///
    /// The descriptors only name the files (`O_PATH`): closing a real one would give back all locks that this process,
    /// and SQLite in it, has on the file (fcntl(2), “advisory record locking”).
    struct FileWatch: ~Copyable {
        private let path: String
        private let descriptor: Int32
        private var size: Int64 = 0
        /// Whether `FileEvents` counts what happens to it.
        let isCounted: Bool

        /// `O_PATH` of asm-generic/fcntl.h, which Swift does not see.
        private static let openPath: Int32 = 0o10_000_000

        /// nil if there is no such file.
        init?(_ path: String) {
            let opened = open(path, Self.openPath | O_CLOEXEC)
            guard opened >= 0 else { return nil }
            self.path = path
            descriptor = opened
            isCounted = FileEvents.shared.watch(opened)
        }

        deinit {
            close(descriptor)
        }

        /// Whether the file still has a name, and is no shorter than it was when this was asked last.
        mutating func isIntact() -> Bool {
            var status = stat()
            guard fstat(descriptor, &status) == 0, status.st_nlink > 0, status.st_size >= size else { return false }
            size = Int64(status.st_size)
            return true
        }

        /// Makes a file that was cut off as long as it was, filled with zeros: what is mapped can be touched again.
        func growBack() {
            guard let now = FileIdentity(path), now.size < size else { return }
            truncate(path, off_t(size))  // by its path: no descriptor, no lock that its closing would give back
        }
    }
#endif
