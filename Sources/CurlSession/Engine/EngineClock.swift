import Glibc

/// The clock of the session's timeouts, in nanoseconds since an arbitrary moment.
struct EngineClock: Sendable {
    let now: @Sendable () -> UInt64

    /// The time since the system started, without the time that it slept.
    static let system = EngineClock { monotonicNow() }

    /// `seconds` in nanoseconds. Nil, which means never, for a billion seconds or more.
    static func nanoseconds(_ seconds: Double) -> UInt64? {
        guard seconds < 1e9 else { return nil }
        return UInt64(max(0, seconds) * 1e9)
    }
}

/// The time of the clock that libcurl's own timers use, in nanoseconds.
func monotonicNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
