import Foundation

/// Detects whether this process was made by `fork`, without `exec`, from a process that used a cache.
///
/// Such a process has none of the threads that hold locks or write to the disk, and must not use the parent's SQLite
/// connections (sqlite.org/howtocorrupt.html §2.6). No cache works in it: lookups miss, stores are ignored, and nothing
/// waits.
package enum ForkedProcess {
    nonisolated(unsafe) private static var hasForked = false  // written only after a fork, where there is one thread
    nonisolated(unsafe) private static var isExplained = false  // written only after a fork, where there is one thread

    /// Watches for forks from the first access on.
    package static let isWatched: Bool = pthread_atfork(nil, nil, { ForkedProcess.hasForked = true }) == 0

    /// Whether this process was forked. It says so on standard error once.
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
