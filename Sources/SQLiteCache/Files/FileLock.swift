import Foundation

/// The lock (`flock`) of the file of an incoming body. The writer of the file has the lock exclusively. Loads that only look at
/// the file share the lock for a moment.
enum FileLock {
    enum Answer {
        case locked
        /// Another descriptor of the file, in this process or in another one, has the lock.
        case busy
        /// The file system has no locks, or the system can't grant one.
        case unavailable
    }

    static func takeToLook(_ file: Int32) -> Answer { take(LOCK_SH, of: file) }

    /// Waits up to 50 ms for loads that only look at the file.
    static func takeToWrite(_ file: Int32) -> Answer {
        for _ in 0..<50 {
            let answer = take(LOCK_EX, of: file)
            guard answer == .busy else { return answer }
            guard takeToLook(file) == .locked else { return .busy }
            release(file)
            usleep(1000)
        }
        return .busy
    }

    private static func take(_ kind: Int32, of file: Int32) -> Answer {
        while true {
            if flock(file, kind | LOCK_NB) == 0 { return .locked }
            if errno != EINTR { return errno == EWOULDBLOCK ? .busy : .unavailable }
        }
    }

    static func release(_ file: Int32) { _ = flock(file, LOCK_UN) }
}
