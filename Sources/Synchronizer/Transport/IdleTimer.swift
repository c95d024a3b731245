import Foundation

/// Ends transfers of which nothing has been heard for too long: one alarm for all of them.
///
/// It counts in steps and reads no clock, so nothing happens when the clock is set: a transfer ends between its limit and
/// an eighth of the shortest limit later.
final class IdleTimer: Sendable {
    /// What may be idle for too long.
    protocol Transfer: AnyObject, Sendable {
        /// Seconds for which nothing need be heard.
        var idleLimit: TimeInterval { get }
        /// Whether anything has been heard since this was asked last.
        func takeWasHeard() -> Bool
        /// The limit is over. Called once, on any thread.
        func idleLimitPassed()
    }

    fileprivate struct State {
        var waiting: [ObjectIdentifier: (transfer: any Transfer, idle: TimeInterval)] = [:]
        /// Seconds from one alarm to the next; nil while there is none.
        var step: TimeInterval?
        /// Tells the alarm that counts from those that were set before.
        var alarm = 0
    }

    private let time: any TimeSource
    private let state = Locked(State())

    init(time: any TimeSource) {
        self.time = time
    }

    func begin(_ transfer: any Transfer) {
        let step = max(0.01, transfer.idleLimit / 8)
        let alarm = state.withLock { state -> Int? in
            state.waiting[ObjectIdentifier(transfer)] = (transfer, 0)
            if let current = state.step, current <= step { return nil }
            state.step = step
            state.alarm += 1
            return state.alarm
        }
        if let alarm { setAlarm(alarm, after: step) }
    }

    func end(_ transfer: any Transfer) {
        state.withLock { $0.waiting[ObjectIdentifier(transfer)] = nil }
    }

    private func setAlarm(_ alarm: Int, after step: TimeInterval) {
        _ = time.schedule(after: step) { [weak self] in self?.goesOff(alarm) }
    }

    private func goesOff(_ alarm: Int) {
        let waiting = state.withLock { $0.alarm == alarm ? $0.waiting.values.map(\.transfer) : [] }
        let heard = waiting.map { ($0, $0.takeWasHeard()) }
        let (late, next) = state.withLock { state -> ([any Transfer], TimeInterval?) in
            guard state.alarm == alarm, let step = state.step else { return ([], nil) }
            let late = heard.compactMap { state.count(step, $0, wasHeard: $1) }
            state.step = state.waiting.values.map { max(0.01, $0.transfer.idleLimit / 8) }.min()
            return (late, state.step)
        }
        if let next { setAlarm(alarm, after: next) }
        late.forEach { $0.idleLimitPassed() }
    }
}

extension IdleTimer.State {
    /// Counts one step; the transfer, if that was too much.
    fileprivate mutating func count(
        _ step: TimeInterval, _ transfer: any IdleTimer.Transfer, wasHeard: Bool
    ) -> (any IdleTimer.Transfer)? {
        let id = ObjectIdentifier(transfer)
        guard let idle = waiting[id]?.idle else { return nil }
        waiting[id]?.idle = wasHeard ? 0 : idle + step
        guard !wasHeard, idle + step >= transfer.idleLimit else { return nil }
        waiting[id] = nil
        return transfer
    }
}
