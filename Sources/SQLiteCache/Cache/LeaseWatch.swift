import Foundation
import SynchronizerSupport

/// Watches the lease of another process without a thread: a timer looks at the slot of the lease, at intervals that grow with
/// the time that has passed. A look takes about a microsecond.
final class LeaseWatch: Sendable {
    /// Seconds between two looks.
    private static let intervals: ClosedRange<TimeInterval> = 0.001...0.025
    private let key: UInt64
    private let leases: LeaseFile
    private let time: any TimeSource
    private let start: Date
    private let limit: TimeInterval
    /// The token of the lease that is watched; nil if it was not held in the first place.
    private let token: UInt64?
    /// nil once the watch is over. The timer that may still be running then finds nothing to do.
    private let handler: Locked<(@Sendable (Bool) -> Void)?>

    init(
        _ key: UInt64, in leases: LeaseFile, time: any TimeSource, limit: TimeInterval,
        handler: @escaping @Sendable (Bool) -> Void
    ) {
        (self.key, self.leases, self.time, self.limit) = (key, leases, time, limit)
        start = time.now
        let (record, isHeld) = leases.look(at: key, now: start.milliseconds)
        token = isHeld ? record.token : nil
        self.handler = Locked(handler)
    }

    func begin() { schedule(after: Self.intervals.lowerBound) }

    func cancel() { _ = handler.withLock { $0.take() } }

    private func schedule(after delay: TimeInterval) {
        _ = time.schedule(after: delay) { [self] in look() }
    }

    private func look() {
        if handler.withLock({ $0 == nil }) { return }
        let now = time.now
        let elapsed = abs(now.timeIntervalSince(start))
        let (record, isHeld) = leases.look(at: key, now: now.milliseconds)
        guard isHeld, record.token == token, elapsed < limit else {
            let handler = handler.withLock { $0.take() }
            handler?(record.key == key && record.token == token && record.expires <= 0)
            return
        }
        let interval = min(max(elapsed / 4, Self.intervals.lowerBound), Self.intervals.upperBound)
        schedule(after: min(interval, max(0.001, limit - elapsed)))
    }
}
