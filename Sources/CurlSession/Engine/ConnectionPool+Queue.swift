import CCurl
import Foundation

/// Tasks that wait for a free slot of their host.
extension ConnectionPool {
    /// A task in the queue of its host.
    final class Waiting {
        /// Nil once the task has stopped waiting, so that the queue does not keep the task and its body until a slot is free.
        fileprivate(set) var request: (task: any TransferClient, exchange: Exchange)?
        fileprivate let isAlone: Bool

        fileprivate init(_ task: any TransferClient, exchange: Exchange) {
            request = (task, exchange)
            isAlone = exchange.isAlone
        }
    }

    /// Sends a task's request as soon as its host has a free slot.
    func start(_ task: any TransferClient, with exchange: Exchange) {
        engine.assertIsCurrent()
        stopDecisionTimeout(task)
        guard !task.isOver else { return }
        let waiting = Waiting(task, exchange: exchange)
        if slots.take(exchange.peer, priority: task.priority, isAlone: exchange.isAlone, waiter: waiting) {
            return begin(task, with: exchange)
        }
        queued[ObjectIdentifier(task)] = waiting
        transferWaits(until: task.resourceDeadline)
    }

    /// Starts the waiting tasks for which a peer has free slots.
    func startWaiting(_ peer: String) {
        while let next = slots.takeNext(peer) {
            if let (task, exchange) = next.request, !task.isOver {
                begin(task, with: exchange)
            } else {
                slots.release(peer, isAlone: next.isAlone)
            }
        }
    }

    /// Call it when a new connection to a peer can be used. `settle` then starts the transfers that wait for it, because this runs
    /// in a callback, which must not call libcurl.
    func connected(to peer: String) { restarts[peer] = .max }

    /// Call it when libcurl has ended a transfer. If it leaves a stream of HTTP/2, one of the waiting transfers can have it. If it has
    /// got no connection, one of them makes one, even if many such transfers end at a time.
    func leaveConnection(_ transfer: Transfer) {
        let (peer, count) = (transfer.exchange.peer, restarts[transfer.exchange.peer] ?? 0)
        guard transfer.exchange.isSecure, count < .max else { return }
        if !transfer.hasConnection {
            restarts[peer] = max(1, count)
        } else if multiplexes(peer) {
            // After a large response, all of them may be able to share a connection.
            restarts[peer] = transfer.isLarge ? .max : count + 1
        }
    }

    /// Starts so many of the transfers again that wait in libcurl for a connection to a peer.
    ///
    /// While a connection is being made, libcurl does not know whether it will be one of HTTP/2, which others can share. So they
    /// wait. Others wait for a free stream. libcurl itself would start one or two of them only if something happens to another
    /// transfer, and then those that have waited longest, whatever their host is. So a host that does not answer would hold up all
    /// others.
    func restart(_ count: Int, at peer: String) {
        var left = count
        let waiting = active.values.filter { $0.exchange.peer == peer && $0.waitsInLibcurl }
            .sorted { $0.task.identifier < $1.task.identifier }
        for transfer in waiting where left > 0 {
            curl_multi_remove_handle(multi, transfer.easy)
            send(transfer)
            if !transfer.isHeldBack { left -= 1 }
        }
    }

    /// Whether a transfer waits for others to leave it a stream of their HTTP/2 connection. This is as good as waiting for a slot.
    func waitsForStream(_ transfer: Transfer) -> Bool {
        let peer = transfer.exchange.peer
        return transfer.waitsInLibcurl && multiplexes(peer)
            && active.values.contains { $0.hasConnection && $0.exchange.peer == peer }
    }

    func multiplexes(_ peer: String) -> Bool { slots.isMultiplexed(peer) }

    /// Removes a task from the queue, if it is there.
    func withdraw(_ task: any TransferClient) {
        engine.assertIsCurrent()
        guard let waiting = queued.removeValue(forKey: ObjectIdentifier(task)), let request = waiting.request else {
            return
        }
        waiting.request = nil
        slots.waiterLeft(request.exchange.peer) { $0.request == nil }
    }

    /// Lets a task time out while it waits for a decision of its delegate.
    func startDecisionTimeout(_ task: any TransferClient) {
        engine.assertIsCurrent()
        guard task.canTimeOut else { return }
        deciding[ObjectIdentifier(task)] = task
        transferWaits(until: task.resourceDeadline)
    }

    /// Call it when a task no longer waits for its delegate.
    func stopDecisionTimeout(_ task: any TransferClient) {
        engine.assertIsCurrent()
        deciding[ObjectIdentifier(task)] = nil
    }

    /// Ends a transfer that has timed out. If only the rest of its request's body was missing, the response counts.
    func expire(_ transfer: Transfer) {
        if transfer.isAnswered { return finish(transfer, error: nil) }
        shutDownSilentConnection(of: transfer)
        transfer.fail(.timeout)
    }

    /// Ends the tasks without a transfer that have timed out.
    /// - Returns: The time at which the next one times out.
    func expireWaiting() -> UInt64 {
        var next = UInt64.max
        for task in queued.values.compactMap({ $0.request?.task }) + deciding.values {
            if task.resourceDeadline <= engine.now {
                task.timeOut()
            } else {
                next = min(next, task.resourceDeadline)
            }
        }
        return next
    }
}
