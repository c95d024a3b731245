import Foundation
import SynchronizerSupport

/// How long connections wait for a lock that another connection holds. The readers of a cache share one instance, and its
/// writer has another.
///
/// After a wait has timed out, connections do not wait at all for the time `pause`. Otherwise each of many lookups in a row
/// would wait until it times out.
final class BusyTimeout: Sendable {
    /// Never waits.
    static let none = BusyTimeout(seconds: 0)

    /// In nanoseconds, like `pause` and `now`.
    let limit: UInt64
    let pause: UInt64
    private let now: @Sendable () -> UInt64
    private let sleep: @Sendable () -> Void
    private let pauseEnd = Locked<UInt64>(0)

    /// - Parameters:
    ///   - seconds: how long to wait.
    ///   - pause: for how many seconds not to wait after a timeout.
    ///   - now: a clock, in nanoseconds.
    ///   - sleep: waits a little.
    init(
        seconds: TimeInterval, pause: TimeInterval = 2,
        now: @escaping @Sendable () -> UInt64 = Uptime.now,
        sleep: @escaping @Sendable () -> Void = { usleep(500) }
    ) {
        limit = UInt64(seconds * 1e9)
        self.pause = UInt64(pause * 1e9)
        self.now = now
        self.sleep = sleep
    }

    /// Waits a little and returns true, or returns false if the caller must not try the lock again.
    ///
    /// - Parameter start: when the wait began, in nanoseconds; set if it is nil.
    func wait(since start: inout UInt64?) -> Bool {
        let now = now()
        let began = start ?? now
        start = began
        let waits = pauseEnd.withLock { pauseEnd in
            if now < pauseEnd { return false }
            if now - began < limit { return true }
            pauseEnd = now + pause
            return false
        }
        if waits { sleep() }
        return waits
    }
}

/// The clock of waits and pauses.
enum Uptime {
    /// In nanoseconds.
    static let now: @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
}
