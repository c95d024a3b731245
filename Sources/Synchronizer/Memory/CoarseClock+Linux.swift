#if !canImport(Darwin)
    import Foundation

    /// The time of the next timer interrupt: the kernel's time of the last one, plus the interval.
    struct CoarseClock: Sendable {
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
