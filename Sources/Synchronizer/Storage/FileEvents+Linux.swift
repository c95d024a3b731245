#if os(Linux) || os(Android)
    import Foundation
    import Synchronization

    /// Counts what happens to files of which this process has been told to take note, so that one system call says that
    /// nothing has happened to any of them.
    final class FileEvents: Sendable {
        /// One for the process: the system gives each user 128 (`fs.inotify.max_user_instances`).
        static let shared = FileEvents()

        private let descriptor: Int32?
        /// Not behind a lock: all threads that look something up ask for it each time.
        private let events = Atomic<UInt64>(0)

        init() {
            let opened = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            descriptor = opened < 0 ? nil : opened
        }

        /// Takes note of an open file from now on, until it is deleted.
        ///
        /// - Returns: whether its changes will be counted. Where the system can't do that, who wants to know has to look.
        func watch(_ file: Int32) -> Bool {
            guard let descriptor else { return false }
            // By way of the descriptor: the path may lead to another file meanwhile.
            let changes = UInt32(IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
            return inotify_add_watch(descriptor, "/proc/self/fd/\(file)", changes) >= 0
        }

        /// Grows with whatever has happened to any of the files.
        var count: UInt64 {
            if let descriptor, Self.isSomethingThere(descriptor) {
                // Before and after: another thread that finds the queue empty has to find the count changed.
                events.add(1, ordering: .sequentiallyConsistent)
                Self.drain(descriptor)
                events.add(1, ordering: .sequentiallyConsistent)
            }
            return events.load(ordering: .sequentiallyConsistent)
        }

        private static func isSomethingThere(_ descriptor: Int32) -> Bool {
            var bytes: Int32 = 0
            return ioctl(descriptor, UInt(FIONREAD), &bytes) != 0 || bytes > 0
        }

        private static func drain(_ descriptor: Int32) {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) == buffer.count {}
            }
        }
    }
#endif
