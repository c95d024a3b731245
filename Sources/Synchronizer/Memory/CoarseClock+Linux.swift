#if !canImport(Darwin)
    import Foundation

    /// The time of the timer interrupt to come: what the kernel has noted at the last one, and the time between two.
    struct SystemTicks: Sendable {
        private let interval: Int

        init() {
            var interval = timespec()
            clock_getres(CLOCK_REALTIME_COARSE, &interval)
            self.interval = interval.tv_nsec
        }

        var now: Date {
            var last = timespec()
            clock_gettime(CLOCK_REALTIME_COARSE, &last)
            return Date(timeIntervalSince1970: Double(last.tv_sec) + Double(last.tv_nsec + interval) * 1e-9)
        }
    }
#endif
