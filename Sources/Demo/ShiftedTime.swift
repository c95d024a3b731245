import Foundation
import Synchronizer

/// The system's time, moved by hand: so that a day passes in a moment.
final class ShiftedTime: TimeSource {
    private let system = SystemTime()
    private let lock = NSLock()
    nonisolated(unsafe) private var shift: TimeInterval = 0  // touched under `lock` only

    var now: Date {
        lock.withLock { system.now.addingTimeInterval(shift) }
    }

    /// Moves to a time that is so many seconds from the system's.
    func set(_ secondsFromNow: TimeInterval) {
        lock.withLock { shift = secondsFromNow }
    }

    func schedule(after delay: TimeInterval, _ action: @escaping @Sendable () -> Void) -> CancelLoading {
        system.schedule(after: delay, action)
    }
}
