import Foundation
import SynchronizerSupport

/// Detects whether this process was made by `fork`, without `exec`, from a process that used a cache.
///
/// Such a process has none of the threads that hold locks or write to the disk, and must not use the parent's SQLite
/// connections (sqlite.org/howtocorrupt.html §2.6). No cache works in it: lookups miss, stores are ignored, and nothing
/// waits.
package enum ForkedProcess {
    nonisolated(unsafe) private static var hasForked = false  // written only after a fork, where there is one thread
    nonisolated(unsafe) private static var isExplained = false  // written only after a fork, where there is one thread

    /// The files that a forked process closes: it shares their locks, which would outlast its parent. -1 marks a free place. This
    /// is not an array, because a process may be forked while a thread changes it. After a fork there is one thread.
    nonisolated(unsafe) private static let files = {  // written under `filesLock`, or where there is one thread
        let files = UnsafeMutableBufferPointer<Int32>.allocate(capacity: 64)
        files.initialize(repeating: -1)
        return files
    }()
    /// The unused value must have a size. Otherwise the thread sanitizer would take an access to the value for an access to the
    /// lock.
    private static let filesLock = Locked(0)

    /// Watches for forks from the first access on.
    package static let isWatched: Bool = {
        _ = files.count  // initialized before a fork
        return pthread_atfork(nil, nil, { ForkedProcess.begin() }) == 0
    }()

    private static func begin() {
        hasForked = true
        for file in files where file >= 0 { Foundation.close(file) }
    }

    /// Makes a forked process close a file at once, unless there are already 64 such files.
    static func willClose(_ file: Int32) {
        _ = isWatched
        filesLock.withLock { _ in
            if let place = files.firstIndex(of: -1) { files[place] = file }
        }
    }

    /// Closes a file, unless this is a forked process, which has done so. Ignores a negative descriptor.
    static func close(_ file: Int32) {
        if file < 0 || hasForked { return }
        filesLock.withLock { _ in
            if let place = files.firstIndex(of: file) { files[place] = -1 }
        }
        Foundation.close(file)
    }

    /// Whether this process was forked. If so, the first call prints a line on standard error.
    package static var isCurrent: Bool {
        if !hasForked { return false }
        if !isExplained { explain() }
        return true
    }

    /// Uses `write`, because other functions may need a lock that a thread of the parent held.
    private static func explain() {
        isExplained = true
        let line: StaticString = "Synchronizer: no SQLiteURLCache works in a process that was forked without exec\n"
        _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
    }
}
