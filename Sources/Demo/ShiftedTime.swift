import Foundation
import Synchronizer

/// The system's time plus an offset, so that a day can pass at once.
final class ShiftedTime: TimeSource {
    private let system = SystemTime()
    private let lock = NSLock()
    nonisolated(unsafe) private var shift: TimeInterval = 0  // touched under `lock` only

    var now: Date {
        lock.withLock { system.now.addingTimeInterval(shift) }
    }

    /// Sets the offset from the system's time, in seconds.
    func set(_ secondsFromNow: TimeInterval) {
        lock.withLock { shift = secondsFromNow }
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading {
        system.schedule(after: delay, action)
    }
}
