import Foundation

/// Tasks that wait for a free slot of their host.
extension ConnectionPool {
    /// A task in the queue of its host.
    final class Waiting {
        /// Nil once the task has stopped waiting, so that the queue does not keep the task and its body until a slot is free.
        fileprivate(set) var request: (task: TaskCore, exchange: Exchange)?

        fileprivate init(_ task: TaskCore, exchange: Exchange) {
            request = (task, exchange)
        }
    }

    /// Sends a task's request as soon as its host has a free slot.
    func start(_ task: TaskCore, with exchange: Exchange) {
        engine.assertIsCurrent()
        goesOn(task)
        guard !task.isOver else { return }
        let waiting = Waiting(task, exchange: exchange)
        if slots.take(exchange.peer, priority: task.priority, waiter: waiting) { return begin(task, with: exchange) }
        queued[ObjectIdentifier(task)] = waiting
        transferWaits(until: task.resourceDeadline)
    }

    /// Starts the waiting tasks for which a peer has free slots.
    func startWaiting(_ peer: String) {
        while let next = slots.takeNext(peer) {
            if let (task, exchange) = next.request, !task.isOver {
                begin(task, with: exchange)
            } else {
                slots.release(peer)
            }
        }
    }

    /// Removes a task from the queue, if it is there.
    func withdraw(_ task: TaskCore) {
        guard let waiting = queued.removeValue(forKey: ObjectIdentifier(task)), let request = waiting.request else {
            return
        }
        waiting.request = nil
        slots.waiterLeft(request.exchange.peer) { $0.request == nil }
    }

    /// Lets a task time out while it waits for a decision of its delegate.
    func waitsForDelegate(_ task: TaskCore) {
        guard !task.isOver else { return }
        deciding[ObjectIdentifier(task)] = task
        transferWaits(until: task.resourceDeadline)
    }

    /// Call it when a task no longer waits for its delegate.
    func goesOn(_ task: TaskCore) {
        deciding[ObjectIdentifier(task)] = nil
    }

    /// Ends the tasks without a transfer that have timed out.
    /// - Returns: The time at which the next one times out.
    func expireWaiting() -> UInt64 {
        var next = UInt64.max
        for task in queued.values.compactMap({ $0.request?.task }) + Array(deciding.values) {
            if task.resourceDeadline <= engine.now {
                task.dropTransfer()
                task.end(.timeout, from: self)
            } else {
                next = min(next, task.resourceDeadline)
            }
        }
        return next
    }
}
