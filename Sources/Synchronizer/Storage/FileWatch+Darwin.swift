#if !(os(Linux) || os(Android))
    import Foundation

    /// Tells whether an open database is still what it was.
    struct FileWatch: ~Copyable {
        private let path: String
        private var identity: FileIdentity
        let isCounted = false

        /// nil if there is no such file.
        init?(_ path: String) {
            guard let identity = FileIdentity(path) else { return nil }
            self.path = path
            self.identity = identity
        }

        /// Whether its path still leads to the file, and it is no shorter than it was when this was asked last.
        mutating func isIntact() -> Bool {
            guard let now = FileIdentity(path), now.isSameFile(as: identity), now.size >= identity.size else {
                return false
            }
            identity = now
            return true
        }

        /// Makes a file that was cut off as long as it was, filled with zeros: what is mapped can be touched again.
        func growBack() {
            guard let now = FileIdentity(path), now.isSameFile(as: identity), now.size < identity.size else { return }
            truncate(path, off_t(identity.size))
        }
    }
#endif
