#if !canImport(Darwin)
    import Foundation

    /// The current time, rounded up to the next timer tick: the kernel's time of the last tick, plus the interval of ticks.
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
