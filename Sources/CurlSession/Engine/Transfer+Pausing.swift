import CCurl
import Foundation

/// When a transfer pauses, and how it continues.
extension Transfer {
    /// The largest backlog of a transfer that takes bytes although it should pause.
    static let largestBacklogAhead = 8 << 20

    /// Whether the transfer can take bytes without exceeding the usual backlog.
    var canTake: Bool {
        if task.isSuspendedOnEngine { return false }
        if case .pending = verdict { return body.backlogCount < Self.largestBacklog }
        if case .discarded = verdict { return true }
        return body.isEmpty && task.checkRoom()
    }

    /// Whether the transfer takes bytes although it should pause, because a pause would hold up other transfers. If not, the
    /// transfer has paused, or has failed because its backlog is too large.
    func takesAhead() -> Bool {
        guard pool.othersNeedConnection(of: self) else {
            isPaused = true
            return false
        }
        if body.backlogCount > Self.largestBacklogAhead { failure = URLError(.dataLengthExceedsMaximum) }
        return failure == nil
    }

    /// Continues the transfer, unless it still has to pause.
    func goOn() {
        pool.engine.assertIsCurrent()
        guard !task.isSuspendedOnEngine else { return }
        pump()
        finishIfDone()
        if canTake {
            pool.makeWay(for: self)
            unpause()
        }
        if let failure, easy != nil { fail(failure) }
    }

    /// Ends libcurl's pause. During the call, libcurl delivers the bytes that it has kept. If the transfer cannot take them, only
    /// the result of the call says so.
    func unpause() {
        guard let easy, isPaused || isSendingPaused else { return }
        (isPaused, isSendingPaused) = (false, false)
        noteProgress()
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        pool.engine.touch(pool)
        // `CURLE_BAD_FUNCTION_ARGUMENT` means that libcurl has ended the transfer, and is about to report it.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        fail(failure ?? URLError(.networkConnectionLost))
    }
}

/// Before 8.1, libcurl reads nothing from an HTTP/2 connection while a paused stream on it has bytes, and keeps trying. So a
/// transfer pauses only while no other transfer on its connection can take bytes.
extension ConnectionPool {
    /// Whether another transfer on the same connection can take bytes.
    func othersNeedConnection(of transfer: Transfer) -> Bool {
        guard sharesPauses(transfer) else { return false }
        return active.values.contains { isBeside(transfer, $0) && $0.canTake }
    }

    /// Makes the transfers that have paused on the same connection take their bytes.
    func makeWay(for transfer: Transfer) {
        guard sharesPauses(transfer) else { return }
        for other in Array(active.values) where other.isPaused && isBeside(transfer, other) { other.unpause() }
    }

    private func sharesPauses(_ transfer: Transfer) -> Bool {
        CurlVersion.pausesConnections && multiplexes(transfer.exchange.origin)
    }

    private func isBeside(_ transfer: Transfer, _ other: Transfer) -> Bool {
        other !== transfer && other.exchange.origin == transfer.exchange.origin
    }
}
