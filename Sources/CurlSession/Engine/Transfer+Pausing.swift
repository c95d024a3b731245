import CCurl
import Foundation

/// When a transfer pauses, and how it continues.
extension Transfer {
    /// The maximum number of bytes that wait for a task whose transfer takes bytes although it should pause.
    static let maximumBacklogAhead = 8 << 20

    /// Whether the transfer can take bytes without exceeding the usual backlog.
    var canTake: Bool {
        if task.isSuspendedOnEngine || pool.isBlocked(self) { return false }
        if case .pending = response { return body.backlogCount < Self.maximumBacklog }
        if case .discarded = response { return true }
        return body.isEmpty && task.checkRoom()
    }

    /// Decides what a transfer does that should pause. If a pause would hold up other transfers, it takes bytes ahead. Otherwise,
    /// it pauses, or fails because too many bytes wait.
    /// - Returns: Whether the transfer takes bytes ahead.
    func takeAhead() -> Bool {
        guard pool.othersNeedConnection(of: self) else {
            isPaused = true
            return false
        }
        guard body.backlogCount + task.undelivered > Self.maximumBacklogAhead else { return true }
        if isHalted {
            abort = .failure(Self.blocksConnection)
        } else {
            isPaused = true
            pool.blockOthers(for: self)
        }
        return false
    }

    /// Whether the transfer takes bytes only when the app says so, which may be never.
    private var isHalted: Bool {
        if case .pending = response { return true }
        return task.isSuspendedOnEngine
    }

    /// Call it when the task has been suspended. If other transfers wait for this one, it fails, because they might wait forever.
    func failIfBlocking() {
        if pool.blocksOthers(self) { fail(Self.blocksConnection) }
    }

    private static let blocksConnection = URLError(
        .dataLengthExceedsMaximum, because: "other tasks need the HTTP/2 connection of the suspended task")

    /// Continues the transfer, unless it still has to pause.
    func goOn() {
        pool.engine.assertIsCurrent()
        guard !task.isSuspendedOnEngine else { return }
        pump()
        finishIfDone()
        if body.isEmpty { pool.stopBlocking(self) }
        if canTake {
            pool.unpauseOthers(for: self)
            unpause()
        }
        if let failure, easy != nil { fail(failure) }
    }

    /// False if the transfer waits for a connection of its own.
    fileprivate var mayHaveSharedConnection: Bool { hasConnection || !avoidsLarge }

    /// Makes libcurl pause a transfer that waits for another one. libcurl refuses while it has no connection for the transfer.
    func pause() {
        guard let easy, !isPaused else { return }
        isPaused = curl_easy_pause(easy, CURLPAUSE_RECV | (sending == .paused ? CURLPAUSE_SEND : 0)) == CURLE_OK
    }

    /// Ends libcurl's pause. During the call, libcurl delivers the bytes that it has kept. If the transfer cannot take them, only
    /// the result of the call says so.
    func unpause() {
        guard let easy, isPaused || sending == .paused else { return }
        isPaused = false
        if sending == .paused { sending = .active }
        noteProgress()
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        pool.engine.touch(pool)
        // `CURLE_BAD_FUNCTION_ARGUMENT` means that libcurl has ended the transfer, and is about to report it.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        if failure == nil, body.mustEndTransfer { return pool.finish(self, error: nil) }
        fail(failure ?? URLError(.networkConnectionLost))
    }
}

/// Before 8.1, libcurl reads nothing from an HTTP/2 connection while a paused stream on it has bytes, and keeps trying. So a
/// transfer pauses only while no other transfer on its connection can take bytes. If it has taken too many bytes ahead, the other
/// transfers pause, too, until its delegate has received them.
extension ConnectionPool {
    /// Makes the other transfers on the connection wait for this one.
    func blockOthers(for transfer: Transfer) {
        blocking[ObjectIdentifier(transfer)] = transfer
        engine.touch(self)
    }

    /// Pauses the transfers that wait for another one. Not in a callback, which must not call libcurl.
    func pauseBlocked() {
        guard !blocking.isEmpty else { return }
        for transfer in Array(active.values) where isBlocked(transfer) { transfer.pause() }
    }

    func stopBlocking(_ transfer: Transfer) {
        guard blocking.removeValue(forKey: ObjectIdentifier(transfer)) != nil else { return }
        for other in Array(active.values) where shareConnection(transfer, other) {
            if other.isHeldBack { send(other) } else { other.goOn() }
        }
    }

    /// Holds a request back if the others on its connection wait for a transfer. Its response would have to wait, too, and would
    /// make libcurl read more for that transfer, although it has paused.
    func holdBack(_ transfer: Transfer) -> Bool {
        transfer.isHeldBack = isBlocked(transfer)
        return transfer.isHeldBack
    }

    func blocksOthers(_ transfer: Transfer) -> Bool { blocking[ObjectIdentifier(transfer)] != nil }

    /// Whether the transfer waits for another one on its connection.
    func isBlocked(_ transfer: Transfer) -> Bool {
        !blocking.isEmpty && blocking.values.contains { shareConnection(transfer, $0) }
    }

    /// Whether another transfer on the same connection can take bytes.
    func othersNeedConnection(of transfer: Transfer) -> Bool {
        guard sharesPauses(transfer) else { return false }
        return active.values.contains { shareConnection(transfer, $0) && $0.canTake }
    }

    /// Makes the transfers that have paused on the same connection take their bytes.
    func unpauseOthers(for transfer: Transfer) {
        guard sharesPauses(transfer) else { return }
        for other in Array(active.values) where other.isPaused && shareConnection(transfer, other) { other.unpause() }
    }

    private func sharesPauses(_ transfer: Transfer) -> Bool {
        CurlVersion.pausesConnections && multiplexes(transfer.exchange.peer)
    }

    /// Whether two transfers share a connection of HTTP/2. True if they may share one.
    func shareConnection(_ transfer: Transfer, _ other: Transfer) -> Bool {
        guard other !== transfer, other.exchange.peer == transfer.exchange.peer else { return false }
        guard transfer.mayHaveSharedConnection, other.mayHaveSharedConnection else { return false }
        return transfer.socket < 0 || other.socket < 0 || transfer.socket == other.socket
    }
}
