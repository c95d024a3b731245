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
        guard !task.isOver else { return }
        let waiting = Waiting(task, exchange: exchange)
        if slots.take(exchange.origin, priority: task.priority, waiter: waiting) { return begin(task, with: exchange) }
        queued[ObjectIdentifier(task)] = waiting
        transferWaits(until: task.resourceDeadline)
    }

    /// Starts the waiting tasks for which an origin has free slots.
    func startWaiting(_ origin: String) {
        while let next = slots.takeNext(origin) {
            if let (task, exchange) = next.request, !task.isOver {
                begin(task, with: exchange)
            } else {
                slots.release(origin)
            }
        }
    }

    /// Removes a task from the queue, if it is there.
    func withdraw(_ task: TaskCore) {
        guard let waiting = queued.removeValue(forKey: ObjectIdentifier(task)), let request = waiting.request else {
            return
        }
        waiting.request = nil
        slots.waiterLeft(request.exchange.origin) { $0.request == nil }
    }

    /// Ends the queued tasks that have timed out.
    /// - Returns: The time at which the next one times out.
    func expireQueued() -> UInt64 {
        var next = UInt64.max
        for task in queued.values.compactMap({ $0.request?.task }) {
            if task.resourceDeadline <= engine.now {
                withdraw(task)
                task.end(.timeout, from: self)
            } else {
                next = min(next, task.resourceDeadline)
            }
        }
        return next
    }
}
