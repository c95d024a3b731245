import Foundation

/// When loads time out. All have the same limit, so they are due in the order in which they began, and one alarm at a time is
/// enough for all of them.
struct Deadlines: Sendable {
    private let limit: TimeInterval
    private(set) var waiting: [(download: RecordID, due: Date)] = []
    private var first = 0
    private var isAlarmSet = false

    /// `limit` in seconds; infinite for none.
    init(limit: TimeInterval) {
        self.limit = limit
    }

    /// Notes a new load. Returns the seconds until the next alarm, if one must be set.
    mutating func begin(_ download: RecordID, at now: Date) -> TimeInterval? {
        guard limit < .infinity else { return nil }
        waiting.append((download, now.addingTimeInterval(limit)))
        return nextAlarm(at: now)
    }

    /// The alarm has gone off. Returns the loads that are due.
    mutating func due(at now: Date) -> [RecordID] {
        isAlarmSet = false
        var due: [RecordID] = []
        while first < waiting.count, waiting[first].due <= now {
            due.append(waiting[first].download)
            first += 1
        }
        compact()
        return due
    }

    /// Drops loads that are over from the front of the list: they need no alarm. If a load at the front lasts long, those behind it
    /// are dropped when most of them are over.
    ///
    /// - Parameter count: the number of loads that are not over.
    mutating func forget(besides count: Int, where isOver: (RecordID) -> Bool) {
        while first < waiting.count, isOver(waiting[first].download) { first += 1 }
        compact()
        guard waiting.count - first > 64 + 2 * count else { return }
        waiting.removeFirst(first)
        first = 0
        waiting.removeAll { isOver($0.download) }
    }

    /// The seconds until the next alarm, if one must be set.
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
