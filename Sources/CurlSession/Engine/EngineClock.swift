import Glibc

/// The clock of the session's timeouts, in nanoseconds since an arbitrary moment.
struct EngineClock: Sendable {
    let now: @Sendable () -> UInt64

    /// The time since the system started, without the time that it slept.
    static let system = EngineClock { monotonicNow() }

    /// `seconds` in nanoseconds; nil, which means never, if that is too large to count.
    static func nanoseconds(_ seconds: Double) -> UInt64? {
        guard seconds < 1e9 else { return nil }
        return UInt64(max(0, seconds) * 1e9)
    }
}

/// The time that libcurl's own timers are measured in.
func monotonicNow() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
