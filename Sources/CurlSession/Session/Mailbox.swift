import Foundation

/// The events that a task's delegate has not received. Pure.
///
/// The mailbox delivers them in order. It delivers nothing after the end, and nothing while it waits for a decision of the
/// delegate.
struct Mailbox {
    /// The number of undelivered bytes at which the transfer pauses.
    static let limit = 256 << 10
    /// The number of undelivered events from which on pieces of the body are joined.
    static let maximumSmallEvents = 64

    private enum Stage {
        case open
        /// The end is in the mailbox or has been delivered: nothing may follow.
        case ended
        /// The same, but the task was cancelled or has timed out: it ends without asking the delegate for another decision.
        case aborted
    }

    private var stage = Stage.open
    private(set) var events: [TaskEvent] = []
    private var nextEvent = 0
    /// A drain is running, or has been scheduled on the delegate's queue.
    private var isScheduled = false
    /// The decision of the delegate that the mailbox waits for. `isTimed`: the end waits for it, too, and the engine limits the
    /// time.
    private var awaited: (decision: Int, isTimed: Bool)?
    private var lastDecision = 0
    /// Bytes of events that have not been delivered.
    private(set) var undelivered = 0
    /// The transfer waits for room.
    private var isStarved = false
    /// The receiver takes no more bytes for now.
    private var isHeld = false

    var isOver: Bool { stage != .open }
    /// Whether the task can still time out.
    var canTimeOut: Bool { stage == .open || awaited?.isTimed == true }

    // MARK: Posting

    /// - Returns: Whether the caller must start a drain.
    mutating func post(_ event: TaskEvent) -> Bool {
        guard !isOver else { return false }
        switch event {
        case .end(let error?) where error.code == .timedOut: return abort(with: error)
        case .end: stage = .ended
        case .data(let data):
            undelivered += data.count
            if joinLast(data) { return schedule() }
        case .sent(let count, let total, let expected):
            // For a delegate that lags behind, several events become one.
            guard nextEvent < events.count, case .sent(let before, let last, _) = events[events.count - 1],
                last + count == total
            else { break }
            events[events.count - 1] = .sent(before + count, total: total, expected: expected)
            return schedule()
        default: break
        }
        events.append(event)
        return schedule()
    }

    /// Adds bytes to the last event, if a delegate lags so far behind that many small events would need much memory.
    private mutating func joinLast(_ data: Data) -> Bool {
        guard events.count - nextEvent >= Self.maximumSmallEvents, case .data(var last) = events[events.count - 1],
            last.count + data.count <= IncomingBody.maximumPiece
        else { return false }
        events[events.count - 1] = .data(Data())  // so that `last` has the only reference, and need not be copied
        last.append(data)
        events[events.count - 1] = .data(last)
        return true
    }

    /// Cancels the task: drops the undelivered events and the pending decision.
    /// - Returns: Whether the caller must start a drain.
    mutating func cancel() -> Bool {
        drop()
        return abort(with: URLError(.cancelled))
    }

    /// Times the task out. A task that has ended already can time out only while its end waits for a decision of the delegate.
    /// - Returns: Whether the caller must start a drain.
    mutating func timeOut() -> Bool {
        stage == .open || awaited != nil ? abort(with: .timeout) : false
    }

    private mutating func abort(with error: URLError) -> Bool {
        if awaited != nil { drop() }  // the delegate may never decide
        stage = .aborted
        events.append(.end(error))
        return schedule()
    }

    private mutating func drop() {
        (events, nextEvent, undelivered, awaited) = ([], 0, 0, nil)
    }

    /// Notes that a drain is scheduled, if one is needed. Returns whether the caller must start it.
    private mutating func schedule() -> Bool {
        guard !isScheduled, awaited == nil, nextEvent < events.count else { return false }
        isScheduled = true
        return true
    }

    // MARK: Delivering

    /// The next event. Nil if there is none yet, or if it has to wait for a decision. Then the drain ends.
    mutating func next() -> TaskEvent? {
        guard awaited == nil, nextEvent < events.count else {
            isScheduled = false
            return nil
        }
        let event = events[nextEvent]
        nextEvent += 1
        // Not only at the end: the events of a fast server never end for a slow delegate, and delivered bodies must be released.
        if 2 * nextEvent >= events.count {
            events.removeFirst(nextEvent)
            nextEvent = 0
        }
        return event
    }

    /// Notes that bytes have been delivered.
    /// - Returns: Whether the transfer has waited for room, and has it now.
    mutating func delivered(_ count: Int) -> Bool {
        undelivered -= min(undelivered, count)
        return endStarving()
    }

    /// Notes whether the receiver takes bytes.
    /// - Returns: Whether the transfer has waited for room, and has it now.
    mutating func hold(_ isHeld: Bool) -> Bool {
        self.isHeld = isHeld
        return endStarving()
    }

    private mutating func endStarving() -> Bool {
        guard isStarved, !isHeld, undelivered <= Self.limit / 2 else { return false }
        isStarved = false
        return true
    }

    /// Whether there is room for more bytes. If not, `delivered` or `hold` says when there is. A task that is over takes nothing
    /// more.
    mutating func checkRoom() -> Bool {
        let hasRoom = !isOver && !isHeld && undelivered < Self.limit
        // A transfer that waits for room must hear of it, even if another transfer asks in the meantime.
        if !hasRoom { isStarved = true }
        return hasRoom
    }

    // MARK: Decisions of the delegate

    /// Makes the mailbox wait for a decision of the delegate.
    /// - Returns: The number of the decision. Nil if the task is about to end: then the delegate is not asked, and receives nothing
    ///   but the end.
    mutating func awaitDecision() -> Int? {
        guard stage != .aborted else {
            (events, nextEvent, undelivered) = (events.suffix(1), 0, 0)
            return nil
        }
        lastDecision += 1
        awaited = (lastDecision, isTimed: false)
        return lastDecision
    }

    /// Notes that the delegate has decided. Only the first call for a decision counts.
    /// - Returns: Whether the caller must start a drain, and whether the engine has limited the time. Nil if the call does not
    ///   count.
    mutating func decided(_ decision: Int) -> (mustDrain: Bool, wasTimed: Bool)? {
        guard let awaited, awaited.decision == decision else { return nil }
        self.awaited = nil
        return (schedule(), awaited.isTimed)
    }

    /// Notes that the engine limits the time for a decision, if the end waits for one: the delegate may never decide.
    /// - Returns: Whether the engine must begin to limit the time.
    mutating func startTimingDecision() -> Bool {
        guard stage == .ended, awaited?.isTimed == false else { return false }
        awaited?.isTimed = true
        return true
    }
}
