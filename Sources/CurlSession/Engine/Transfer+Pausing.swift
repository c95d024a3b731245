import CCurl
import Foundation

/// When a transfer pauses, and how it goes on.
extension Transfer {
    /// The most bytes that are taken while the transfer ought to pause.
    static let largestBacklogAhead = 8 << 20

    /// Whether bytes can be taken without more than the usual backlog.
    var canTake: Bool {
        if task.isSuspendedOnEngine { return false }
        if case .pending = verdict { return body.backlogCount < Self.largestBacklog }
        if case .discarded = verdict { return true }
        return body.isEmpty && task.checkRoom()
    }

    /// Whether bytes are taken although they have to wait, because a pause would hold up other transfers. If not, the transfer
    /// pauses, or has failed because too many bytes wait.
    func takesAhead() -> Bool {
        guard pool.othersNeedConnection(of: self) else {
            isPaused = true
            return false
        }
        if body.backlogCount > Self.largestBacklogAhead { failure = URLError(.dataLengthExceedsMaximum) }
        return failure == nil
    }

    /// Continues the transfer, if nothing makes it pause any more.
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

    /// libcurl delivers the bytes that it has kept at once. If they cannot be taken, it says so here and nowhere else.
    func unpause() {
        guard let easy, isPaused || isSendingPaused else { return }
        (isPaused, isSendingPaused) = (false, false)
        noteProgress()
        let code = curl_easy_pause(easy, CURLPAUSE_CONT)
        pool.engine.touch(pool)
        // A bad argument means that libcurl is done with the transfer, and is about to say so.
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        fail(failure ?? URLError(.networkConnectionLost))
    }
}

/// Before 8.1, libcurl reads nothing from a connection of HTTP/2 as long as a paused stream has bytes, and keeps trying. So
/// a transfer pauses only while no other one on its connection can take bytes.
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
