import Foundation
import SynchronizerSupport

/// Watches the lease of another process without a thread: a timer looks at the slot of the lease, at intervals that grow with
/// the time that has passed. A look takes about a microsecond.
final class LeaseWatch: Sendable {
    private struct State {
        var handler: (@Sendable (Bool) -> Void)?
        /// The number of the running timer, and the closure that stops it. The closure retains the timer's action, and with it
        /// this watch. So the watch must not retain it once the timer has fired.
        var timer = 0
        var stopTimer: (@Sendable () -> Void)?
    }

    /// Seconds between two looks.
    private static let intervals: ClosedRange<TimeInterval> = 0.001...0.025
    private let key: UInt64
    private let leases: LeaseFile
    private let time: any TimeSource
    private let start: Date
    private let limit: TimeInterval
    /// The token of the lease that is watched; nil if it was not held in the first place.
    private let token: UInt64?
    private let state: Locked<State>

    init(
        _ key: UInt64, in leases: LeaseFile, time: any TimeSource, limit: TimeInterval,
        handler: @escaping @Sendable (Bool) -> Void
    ) {
        (self.key, self.leases, self.time, self.limit) = (key, leases, time, limit)
        start = time.now
        let (record, isHeld) = leases.look(at: key, now: start.milliseconds)
        token = isHeld ? record.token : nil
        state = Locked(State(handler: handler))
    }

    func begin() { schedule(after: Self.intervals.lowerBound) }

    func cancel() { _ = finish() }

    /// Ends the watch; returns the handler, unless it was over.
    private func finish() -> (@Sendable (Bool) -> Void)? {
        let last = state.withLock { state in
            defer { state = State(timer: state.timer + 1) }
            return state
        }
        last.stopTimer?()
        return last.handler
    }

    private func schedule(after delay: TimeInterval) {
        let number = state.withLock { state in
            state.timer += 1
            return state.timer
        }
        let stop = time.schedule(after: delay) { [self] in look(number) }
        let isRunning = state.withLock { state in
            guard state.timer == number, state.handler != nil else { return false }
            state.stopTimer = stop
            return true
        }
        if !isRunning { stop() }
    }

    /// - Parameter number: the number of the timer that has fired.
    private func look(_ number: Int) {
        let isOver = state.withLock { state in
            guard state.timer == number else { return true }
            (state.timer, state.stopTimer) = (number + 1, nil)
            return state.handler == nil
        }
        if isOver { return }
        let now = time.now
        let elapsed = abs(now.timeIntervalSince(start))
        let (record, isHeld) = leases.look(at: key, now: now.milliseconds)
        guard isHeld, record.token == token, elapsed < limit else {
            finish()?(record.key == key && record.token == token && record.expires <= 0)
            return
        }
        let interval = min(max(elapsed / 4, Self.intervals.lowerBound), Self.intervals.upperBound)
        schedule(after: min(interval, max(0.001, limit - elapsed)))
    }
}
