/// How many requests may be cancelled in a row before new ones wait for the finger to rest.
///
/// Each load that starts takes from the budget and gives back when it ends, unless it is cancelled under way. So loads
/// that come to their end are never held up; but a fling past slow resources, where each cancel would only make room
/// for a request that is cancelled next, sends few requests in vain. When nobody has left for a moment the budget is
/// whole again. While they keep leaving it grows back slowly, and faster with loads that succeed, so that nothing is
/// held up for good.
struct WasteBudget: Hashable, Sendable {
    /// Seconds without anybody leaving, after which the finger is taken to rest.
    static let pause = 0.05
    /// As many pauses as it takes, while they keep leaving, for the budget to grow by one.
    private static let pausesPerStart = 4

    private let full: Int
    private var wasted = 0
    /// Counts those who leave, while a pause is waited for.
    private var leaving = 0
    private var pauses = 0
    private(set) var isPausing = false

    /// - Parameter total: loads that may be under way at once.
    init(total: Int) {
        full = total + max(2, total / 4)
    }

    /// Whether another load may start besides those that are under way.
    func allows(running: Int) -> Bool { running + wasted < full }

    /// A load has ended by itself.
    mutating func ended() { wasted = max(0, wasted - 1) }

    /// A load that was under way has been cancelled; what it returns is to be waited for with `pauseEnded`, if anything.
    mutating func cancelled() -> Int? {
        wasted += 1
        guard !isPausing else { return nil }
        isPausing = true
        return leaving
    }

    /// A load has been cancelled, under way or not.
    mutating func left() {
        if isPausing { leaving += 1 }
    }

    /// A pause is over; what it returns is to be waited for next, if anything.
    mutating func pauseEnded(_ token: Int) -> Int? {
        guard token != leaving else {
            (wasted, pauses, isPausing) = (0, 0, false)
            return nil
        }
        pauses += 1
        if pauses % Self.pausesPerStart == 0 { wasted = max(0, wasted - 1) }
        return leaving
    }
}
