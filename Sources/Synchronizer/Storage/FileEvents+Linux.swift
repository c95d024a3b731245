#if os(Linux) || os(Android)
    import Foundation

    extension FileEvents {
        static func open() -> Int32? {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
            return descriptor < 0 ? nil : descriptor
        }

        static func watch(_ file: Int32, _ descriptor: Int32) -> Bool {
            // By way of the descriptor: the path may lead to another file meanwhile.
            let changes = UInt32(IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
            return inotify_add_watch(descriptor, "/proc/self/fd/\(file)", changes) >= 0
        }

        static func isSomethingThere(_ descriptor: Int32) -> Bool {
            var bytes: Int32 = 0
            return ioctl(descriptor, UInt(FIONREAD), &bytes) != 0 || bytes > 0
        }

        static func drain(_ descriptor: Int32) {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
                while read(descriptor, buffer.baseAddress, buffer.count) == buffer.count {}
            }
        }
    }
#endif
