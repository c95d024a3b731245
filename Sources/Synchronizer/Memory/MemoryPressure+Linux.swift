#if !canImport(Darwin)
    import Foundation

    extension MemoryPressure {
        /// Reports when some task waited for memory for 200 ms within 2 s. (Unprivileged programs may use only multiples of 2 s:
        /// see “PSI” in the kernel's documentation.)
        static let trigger = "some 200000 2000000"

        /// Asks the kernel to report when tasks wait for memory: tasks of the program's own cgroup (version 2) if it has one,
        /// otherwise those of the whole system. Without kernel support there are no reports.
        func watchSystem() {
            let membership = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
            let files = Self.pressureFiles(membership: membership)
            guard let watched = files.lazy.compactMap(Self.armed).first else { return }
            Self.watch(watched) { self.report() }
        }

        /// Calls `action` each time that the kernel reports pressure (`POLLPRI`). When the file is gone, closes the descriptor and
        /// calls `ended`.
        static func watch(
            _ descriptor: Int32, action: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void = {}
        ) {
            let thread = Thread {
                var events = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
                while poll(&events, 1, -1) >= 0 || errno == EINTR {
                    if events.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { break }  // the cgroup is gone
                    if events.revents & Int16(POLLPRI) != 0 { action() }
                }
                close(descriptor)
                ended()
            }
            thread.name = "Synchronizer.memory"
            thread.start()
        }

        /// The files that report pressure: the cgroup's before the system's. `membership` is the content of `/proc/self/cgroup`.
        static func pressureFiles(membership: String) -> [String] {
            let own = membership.split(separator: "\n").first { $0.hasPrefix("0::/") }
                .map { "/sys/fs/cgroup/\($0.dropFirst(4))/memory.pressure" }
            return [own, "/proc/pressure/memory"].compactMap { $0 }
        }

        /// Opens a pressure file and sets the trigger; nil without kernel support.
        static func armed(_ file: String) -> Int32? {
            let descriptor = open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            // The kernel expects the terminating zero too.
            guard trigger.withCString({ write(descriptor, $0, trigger.utf8.count + 1) }) > 0 else {
                close(descriptor)
                return nil
            }
            return descriptor
        }
    }
#endif
