/// Limits the number of requests that are cancelled in flight, before new requests wait until the scrolling slows down.
///
/// Each load that starts takes one from the budget. A load that finishes returns it; a load that is cancelled in flight does not.
/// So without cancellations no load is delayed. During a fast scroll past slow resources, each cancellation would make room for
/// a request that is cancelled next: the budget keeps the number of such wasted requests low. When no load has been cancelled for
/// a moment, the budget is full again. While cancellations continue, the budget recovers slowly, and faster with loads that
/// finish, so that no load waits forever.
struct CancellationThrottle: Hashable, Sendable {
    /// Seconds without a cancellation after which the budget is full again.
    static let pause = 0.05
    /// The number of pauses after which the budget grows by one while cancellations continue.
    private static let pausesPerStart = 4

    private let full: Int
    private var wasted = 0
    /// How many loads were cancelled during pauses: the token of a pause is the number at its beginning.
    private var cancellations = 0
    private var pauses = 0
    private(set) var isPausing = false

    /// - Parameter total: the number of network slots.
    init(total: Int) {
        let (sum, overflows) = total.addingReportingOverflow(max(2, total / 4))
        full = overflows ? .max : sum
    }

    /// Whether another load may start while this many run.
    func allows(running: Int) -> Bool { running + wasted < full }

    /// A load finished.
    mutating func ended() { wasted = max(0, wasted - 1) }

    /// A load was cancelled in flight. Returns a token to pass to `pauseEnded` after ``pause``, if a pause begins.
    mutating func cancelledInFlight() -> Int? {
        wasted += 1
        guard !isPausing else { return nil }
        isPausing = true
        return cancellations
    }

    /// A load was cancelled, in flight or not.
    mutating func noteCancellation() {
        if isPausing { cancellations += 1 }
    }

    /// A pause ended. Returns the token of the next pause, if there is one.
    mutating func pauseEnded(_ token: Int) -> Int? {
        guard token != cancellations else {
            (wasted, pauses, isPausing) = (0, 0, false)
            return nil
        }
        pauses += 1
        if pauses % Self.pausesPerStart == 0 { wasted = max(0, wasted - 1) }
        return cancellations
    }
}
