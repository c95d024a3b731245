import Foundation

/// Tasks that wait for a free slot of their host.
extension ConnectionPool {
    /// A task in the queue of its host.
    final class Waiting {
        /// Nil once the task does not wait any more: nothing keeps it, nor its body, until a slot is free.
        fileprivate(set) var request: (task: TaskCore, exchange: Exchange)?

        fileprivate init(_ task: TaskCore, exchange: Exchange) {
            request = (task, exchange)
        }
    }

    /// Sends a request of a task when its host has a free slot.
    func start(_ task: TaskCore, with exchange: Exchange) {
        engine.assertIsCurrent()
        guard !task.isOver else { return }
        let waiting = Waiting(task, exchange: exchange)
        if slots.take(exchange.origin, priority: task.priority, waiter: waiting) { return begin(task, with: exchange) }
        queued[ObjectIdentifier(task)] = waiting
        transferWaits(until: task.resourceDeadline)
    }

    /// Starts the tasks for which there is a slot now.
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
    /// - Returns: When the next one does.
    func expireQueued() -> UInt64 {
        var next = UInt64.max
        for task in queued.values.compactMap({ $0.request?.task }) {
            if task.resourceDeadline <= engine.now {
                withdraw(task)
                task.end(URLError(.timedOut), from: self)
            } else {
                next = min(next, task.resourceDeadline)
            }
        }
        return next
    }
}
