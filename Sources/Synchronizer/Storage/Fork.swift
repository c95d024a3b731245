import Foundation

/// Whether this process is a copy of one that used a cache, made by `fork` without `exec`.
///
/// Such a process has none of the threads that hold locks or write to the disk, and SQLite's connections must not be
/// carried over (sqlite.org/howtocorrupt.html §2.6). No cache works there: lookups miss, stores are ignored, nothing waits.
enum Fork {
    // Both are written only in a process that has been forked, whose other threads are gone.
    nonisolated(unsafe) private static var hasHappened = false
    nonisolated(unsafe) private static var isExplained = false

    /// Takes note of forks from now on; made once.
    static let isWatched: Bool = pthread_atfork(nil, nil, { Fork.hasHappened = true }) == 0

    /// Says so on standard error, once.
    static var isChild: Bool {
        if !hasHappened { return false }
        if !isExplained { explain() }
        return true
    }

    /// With `write`, because other functions may need a lock that a thread of the parent had.
    private static func explain() {
        isExplained = true
        let line: StaticString = "Synchronizer: no SQLiteURLCache works in a process that was forked without exec\n"
        _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
    }
}
