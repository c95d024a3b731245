import Foundation

/// Ends transfers of which nothing has been heard for too long: one alarm for all that have the same limit.
///
/// It counts in steps of an eighth of the limit and reads no clock, so nothing happens when the clock is set: a transfer
/// ends between its limit and two steps later.
final class IdleTimer: Sendable {
    /// What may be idle for too long.
    protocol Transfer: AnyObject, Sendable {
        /// Seconds for which nothing need be heard.
        var idleLimit: TimeInterval { get }
        /// Whether anything has been heard since this was asked last.
        func takeWasHeard() -> Bool
        /// The limit is over.
        func idleLimitPassed()
    }

    private static let steps = 8
    private let time: any TimeSource
    /// By limit, the transfers and the steps for which they have been idle; a limit that is here has an alarm.
    private let waiting = Locked<[TimeInterval: [ObjectIdentifier: (transfer: any Transfer, idle: Int)]]>([:])

    init(time: any TimeSource) {
        self.time = time
    }

    func begin(_ transfer: any Transfer) {
        let limit = transfer.idleLimit
        let isFirst = waiting.withLock { waiting in
            let isFirst = waiting[limit] == nil
            // The first alarm may come at once: it does not count.
            waiting[limit, default: [:]][ObjectIdentifier(transfer)] = (transfer, -1)
            return isFirst
        }
        if isFirst { setAlarm(limit) }
    }

    func end(_ transfer: any Transfer) {
        waiting.withLock { $0[transfer.idleLimit]?[ObjectIdentifier(transfer)] = nil }
    }

    private func setAlarm(_ limit: TimeInterval) {
        _ = time.schedule(after: max(0.001, limit / Double(Self.steps))) { [weak self] in self?.goesOff(limit) }
    }

    private func goesOff(_ limit: TimeInterval) {
        let transfers = waiting.withLock { $0[limit]?.values.map(\.transfer) ?? [] }
        let heard = transfers.map { ($0, $0.takeWasHeard()) }
        let (late, isAlarmNeeded) = waiting.withLock { waiting in
            let late = heard.filter { Self.isLate($0, wasHeard: $1, &waiting[limit, default: [:]]) }
            if waiting[limit]?.isEmpty ?? true { waiting[limit] = nil }
            return (late.map(\.0), waiting[limit] != nil)
        }
        if isAlarmNeeded { setAlarm(limit) }
        late.forEach { $0.idleLimitPassed() }
    }

    /// Counts a step; takes the transfer out if that was the last one.
    private static func isLate(
        _ transfer: any Transfer, wasHeard: Bool,
        _ waiting: inout [ObjectIdentifier: (transfer: any Transfer, idle: Int)]
    ) -> Bool {
        let id = ObjectIdentifier(transfer)
        guard let idle = waiting[id]?.idle else { return false }
        waiting[id]?.idle = wasHeard ? 0 : idle + 1
        guard !wasHeard, idle + 1 >= steps else { return false }
        waiting[id] = nil
        return true
    }
}
