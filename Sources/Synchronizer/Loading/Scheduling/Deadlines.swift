import Foundation

/// When loads end that take too long. All have the same time, so they fall due in the order in which they began, and
/// one alarm at a time is enough for any number of them.
struct Deadlines: Sendable {
    private let limit: TimeInterval
    private var waiting: [(download: SlotID, due: Date)] = []
    private var first = 0
    private var isAlarmSet = false

    /// `limit` in seconds; infinite for none.
    init(limit: TimeInterval) {
        self.limit = limit
    }

    /// Notes a load that begins; seconds until an alarm that is to be set, if there is none yet.
    mutating func begin(_ download: SlotID, at now: Date) -> TimeInterval? {
        guard limit < .infinity else { return nil }
        waiting.append((download, now.addingTimeInterval(limit)))
        return nextAlarm(at: now)
    }

    /// The alarm has gone off: the loads that are due.
    mutating func due(at now: Date) -> [SlotID] {
        isAlarmSet = false
        var due: [SlotID] = []
        while first < waiting.count, waiting[first].due <= now {
            due.append(waiting[first].download)
            first += 1
        }
        compact()
        return due
    }

    /// Forgets the first loads as far as they are over: there is nothing to wake up for.
    mutating func forget(while isOver: (SlotID) -> Bool) {
        while first < waiting.count, isOver(waiting[first].download) { first += 1 }
        compact()
    }

    /// Seconds until the next alarm, if there is one to be set.
    mutating func nextAlarm(at now: Date) -> TimeInterval? {
        guard !isAlarmSet, first < waiting.count else { return nil }
        isAlarmSet = true
        return max(0, waiting[first].due.timeIntervalSince(now))
    }

    private mutating func compact() {
        guard first > 64, first * 2 > waiting.count else { return }
        waiting.removeFirst(first)
        first = 0
    }
}
