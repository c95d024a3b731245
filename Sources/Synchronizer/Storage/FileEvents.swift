import Foundation

/// Counts what happens to files of which this process has been told to take note, so that one system call says that
/// nothing has happened to any of them.
final class FileEvents: Sendable {
    /// One for the process: the system gives each user 128 (`fs.inotify.max_user_instances`).
    static let shared = FileEvents()

    private let descriptor: Int32?
    private let events = Locked<UInt64>(0)

    init() {
        descriptor = Self.open()
    }

    /// Takes note of an open file from now on, until it is deleted.
    ///
    /// - Returns: whether its changes will be counted. Where the system can't do that, who wants to know has to look.
    func watch(_ file: Int32) -> Bool {
        descriptor.map { Self.watch(file, $0) } ?? false
    }

    /// Grows with whatever has happened to any of the files.
    var count: UInt64 {
        if let descriptor, Self.isSomethingThere(descriptor) {
            // Before and after: another thread that finds the queue empty has to find the count changed.
            events.withLock { $0 += 1 }
            Self.drain(descriptor)
            events.withLock { $0 += 1 }
        }
        return events.withLock { $0 }
    }
}
