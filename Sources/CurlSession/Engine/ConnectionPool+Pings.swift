import CCurl
import Glibc

/// libcurl 7.88.1 to 8.0.1 can overlook the end of a response of HTTP/2. While one transfer reads, libcurl keeps what arrives for
/// the others in their buffers. If a buffer is full, libcurl pauses the decoding of frames. It continues only when more bytes
/// arrive on the connection, although the end of the response may be among the bytes that it has. (Other versions continue without
/// new bytes: they call `nghttp2_session_mem_recv` with none.)
///
/// So if a response has filled the buffer, and then stops, the session sends a PING, which the server answers (RFC 9113 §6.7).
extension ConnectionPool {
    /// How long no byte of a response arrives before a PING is sent.
    static let silenceBeforePing: UInt64 = 200_000_000

    /// Sends the PINGs that are due.
    /// - Returns: When the next one is due.
    func sendPings() -> UInt64 {
        guard CurlVersion.overlooksEnds else { return .max }
        var next = UInt64.max
        for transfer in active.values where transfer.pingTime != .max {
            transfer.pingIfDue()
            next = min(next, transfer.pingTime)
        }
        return next
    }

    /// Whether bytes can be written to a connection now, and none of libcurl's wait to be written.
    fileprivate func isWritable(_ socket: Int32) -> Bool {
        guard ownSockets.contains(socket), engine.sockets[socket].wanted & Epoll.output == 0 else { return false }
        var entry = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR | POLLHUP) == 0
    }

    /// Sends an encrypted record on a socket. If the system does not take all of it, the connection can't be used any more.
    fileprivate func sendRecord(_ bytes: UnsafeRawBufferPointer, on socket: Int32) {
        let count = Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        if count != bytes.count { endConnection(socket) }
    }

    /// Ends a connection in use. `epoll` still watches the socket, so libcurl reads the end, and fails the transfers.
    fileprivate func endConnection(_ socket: Int32) { _ = Glibc.shutdown(socket, Int32(SHUT_RDWR)) }
}

/// While a large response fills its buffer, these versions also lose the error with which a server has ended another response
/// on the connection (RFC 9113 §5.4.2). So new requests get connections of their own, up to the limit for their host. If the other
/// response has neither a length nor a coding, the session can't know whether it is complete. In this case,
/// `refusesUncertainEnds` makes the task of a small `GET` fail. The next request for the same URL waits for a connection of its
/// own.
extension ConnectionPool {
    /// Whether a request needs a new connection. At the limit, it shares one, because large responses may take minutes.
    func mustAvoidLarge(_ transfer: Transfer) -> Bool {
        guard hasLargeResponse(from: transfer.exchange.peer) else { return false }
        return uncertain.contains(transfer.exchange.target)
            || connections(beside: transfer) < options.connectionsPerHost
    }

    private func hasLargeResponse(from peer: String) -> Bool {
        CurlVersion.overlooksEnds && multiplexes(peer)
            && active.values.contains { $0.isLarge && $0.exchange.peer == peer }
    }

    /// The number of connections that other transfers to the same peer use, or are about to make.
    private func connections(beside transfer: Transfer) -> Int {
        let others = active.values.filter { $0 !== transfer && $0.exchange.peer == transfer.exchange.peer }
        let coming = others.filter { $0.socket < 0 && ($0.avoidsLarge || $0.exchange.isAlone) }
        return Set(others.map(\.socket).filter { $0 >= 0 }).count + coming.count
    }

    /// Notes whether the end of a response is uncertain.
    func noteEnd(of transfer: Transfer, isUncertain: Bool) {
        guard isUncertain else { return _ = uncertain.remove(transfer.exchange.target) }
        if uncertain.count >= Self.maximumUncertain { uncertain = [] }
        uncertain.insert(transfer.exchange.target)
    }

    /// A request that is forgotten may fail once more.
    private static var maximumUncertain: Int { 1000 }

    fileprivate func hasLargeResponse(beside transfer: Transfer) -> Bool {
        active.values.contains { $0.isLarge && shareConnection(transfer, $0) }
    }
}

extension Transfer {
    /// Whether the response can fill libcurl's buffer.
    var isLarge: Bool {
        guard case .multiplexed = connection else { return false }
        return receivedOfBody >= largeBody - min(largeBody, body.remaining)  // a server may claim any length
    }

    /// Whether the transfer fails because libcurl may have lost the error that ended it.
    var isUncertain: Bool {
        guard CurlVersion.overlooksEnds, pool.options.refusesUncertainEnds, case .multiplexed = connection else {
            return false
        }
        return !body.showsEnd && exchange.method == "GET" && !isLarge && pool.hasLargeResponse(beside: self)
    }

    /// A PING with eight bytes that have no meaning (RFC 9113 §6.7).
    private static let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0] + Array("complete".utf8)

    /// The size from which on a body can fill libcurl's buffer, which also has the head.
    private var largeBody: Int { pool.options.bufferSize - (256 << 10) }

    /// Notes bytes of the body. A response that is smaller than libcurl's buffer does not fill it.
    func considerPing(after count: Int) {
        guard CurlVersion.overlooksEnds, case .multiplexed = connection else { return }
        receivedOfBody += count
        guard receivedOfBody >= largeBody, pingTime == .max else { return }
        pingTime = lastProgress + ConnectionPool.silenceBeforePing
        pool.transferWaits(until: pingTime)
    }

    /// Sends a PING if no bytes have arrived for long enough. The next bytes of the body make another one due.
    fileprivate func pingIfDue() {
        pingTime = max(pingTime, lastProgress + ConnectionPool.silenceBeforePing)
        guard let easy, pingTime <= pool.engine.now else { return }
        guard pool.isWritable(socket) else { return pingTime = pool.engine.now + ConnectionPool.silenceBeforePing }
        pingTime = sendPing(easy) ? .max : pool.engine.now + ConnectionPool.silenceBeforePing
    }

    /// - Returns: False if nothing can be encrypted now.
    func sendPing(_ easy: UnsafeMutableRawPointer) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 1 << 10, alignment: 1) { record in
            let size = Self.ping.withUnsafeBytes {
                synchronizer_encrypt(easy, $0.baseAddress, Int32($0.count), record.baseAddress, Int32(record.count))
            }
            if size > 0 { pool.sendRecord(UnsafeRawBufferPointer(rebasing: record[..<Int(size)]), on: socket) }
            if size < 0 { pool.endConnection(socket) }
            return size != 0
        }
    }
}
