import Foundation
import FoundationNetworking

/// The mailbox: the events that the delegate has not received.
extension TaskCore.State {
    /// Keeps the task alive from now on. Without a delegate of its own, it gets the session's.
    mutating func begin(_ task: URLSessionDataTask) {
        self.task = task
        if delegates == nil { delegates = session?.delegates ?? Delegates(nil) }  // an invalidated session has none
    }

    /// Notes that a drain is scheduled, if one is needed. Returns whether the caller must start it.
    mutating func schedule() -> Bool {
        guard !isScheduled, awaited == nil, nextEvent < events.count else { return false }
        isScheduled = true
        return true
    }

    mutating func post(_ event: TaskEvent) -> Bool {
        guard !isOver else { return false }
        switch event {
        case .end(let error):
            isOver = true
            if error?.code == .timedOut {
                isAborted = true
                // The delegate may never decide.
                if awaited != nil { drop() }
            }
        case .data(let data):
            undelivered += data.count
            if joinsLast(data) { return schedule() }
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
    private mutating func joinsLast(_ data: Data) -> Bool {
        guard events.count - nextEvent >= TaskCore.mostSmallEvents, case .data(var last) = events[events.count - 1],
            last.count + data.count <= IncomingBody.maximumPiece
        else { return false }
        events[events.count - 1] = .data(Data())  // so that `last` has the only reference, and need not be copied
        last.append(data)
        events[events.count - 1] = .data(last)
        return true
    }

    /// Cancels the task: drops the undelivered events and the pending decision.
    mutating func cancel() -> Bool {
        drop()
        (isOver, isAborted) = (false, true)
        return post(.end(URLError(.cancelled)))
    }

    /// Notes if the end waits in the mailbox for a decision of the delegate, which may never decide.
    /// - Returns: Whether the engine must limit the time, which it does not do yet.
    mutating func timesDecision() -> Bool {
        guard isOver, awaited != nil, !isDecisionTimed else { return false }
        isDecisionTimed = true
        return true
    }

    /// Times the task out. A task that has ended already can time out only while its end waits for a decision of the delegate.
    mutating func timeOut() -> Bool {
        if isOver, awaited == nil { return false }
        isOver = false
        return post(.end(.timeout))
    }

    private mutating func drop() {
        (events, nextEvent, undelivered, awaited) = ([], 0, 0, nil)
        isDecisionTimed = false
    }

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
        if case .end = event, !machine.complete() { return nil }
        return event
    }

    /// Makes the mailbox wait for a decision of the delegate.
    /// - Returns: The number of the decision. Nil if the task is about to end: then the delegate is not asked, and receives nothing
    ///   but the end.
    mutating func await() -> Int? {
        guard !isAborted else {
            (events, nextEvent, undelivered) = (events.suffix(1), 0, 0)
            return nil
        }
        decisions += 1
        awaited = decisions
        return decisions
    }
}
