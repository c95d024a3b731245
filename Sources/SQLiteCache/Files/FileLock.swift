import Foundation

/// The lock (`flock`) of a file that a body arrives in. Its writer has it alone. Who looks at the file shares it for a moment.
///
/// Where the file system knows no locks, every call gets one.
enum FileLock {
    /// Returns false if another one writes the file.
    static func takeToLook(_ file: Int32) -> Bool { flock(file, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK }

    /// Returns false if another one writes the file. Those that look at it at the moment do not count.
    static func takeToWrite(_ file: Int32) -> Bool {
        for _ in 0..<mostTries {
            if flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK { return true }
            guard takeToLook(file) else { return false }
            release(file)
            usleep(1000)
        }
        return false
    }

    static func release(_ file: Int32) { _ = flock(file, LOCK_UN) }

    private static let mostTries = 50
}
