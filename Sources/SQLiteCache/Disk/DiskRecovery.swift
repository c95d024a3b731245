import Foundation

/// How long the cache waits after a failed write, as on a full disk.
enum DiskRecovery {
    /// Seconds after which a failed write is tried again, and after which new responses are written to the disk again.
    static let retryInterval: TimeInterval = 2
    /// Nanoseconds for which removals may fail before the writer deletes the database.
    static let longestFailure: UInt64 = 20_000_000_000
}
