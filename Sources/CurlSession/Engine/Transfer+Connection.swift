import CCurl
import Foundation

/// Decides whether the bytes on a reused connection of HTTP/1 can be the response to this request.
///
/// They cannot if they arrived before the request was sent, whether the kernel or the TLS library has them. Nor can they if the
/// server's kernel has not acknowledged the request when they arrive. Then the request is sent again on a new connection.
extension Transfer {
    /// The methods whose requests may be sent twice (RFC 9110 §9.2.2, RFC 10008).
    private static let idempotentMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"]

    /// Whether bytes have arrived over TLS that libcurl has not read. A record may begin with the end of the last response, of
    /// which libcurl reads only the bytes that were missing.
    private var hasDecryptedBytes: Bool {
        guard exchange.isEncrypted, let easy else { return false }
        return synchronizer_has_decrypted(easy)
    }

    /// Whether client and server have agreed on HTTP/2 for the connection.
    private var speaksHTTP2: Bool {
        guard exchange.isSecure, let easy else { return false }
        return synchronizer_negotiated_http2(easy)
    }

    private var isReused: Bool { easy.map { synchronizer_info_long($0, CURLINFO_NUM_CONNECTS) == 0 } ?? false }

    /// Whether libcurl has begun to send the request on a connection, which has not been lost.
    var hasConnection: Bool {
        switch connection {
        case .exclusive, .multiplexed: true
        case .none, .lost: false
        }
    }

    /// Whether libcurl has not begun to connect, because a connection that it is making for another transfer may be shared.
    var waitsInLibcurl: Bool { easy != nil && !hasConnection && socket < 0 && lookup.awaited == nil }

    /// Notes the socket on which libcurl waits. If the transfer has waited for a connection, it begins to make one now.
    func waits(on socket: Int32) {
        if waitsInLibcurl { noteProgress() }
        self.socket = socket
    }

    /// Begins to send the request on the connection that libcurl has chosen. libcurl sends a request again if a kept connection
    /// turns out to be dead, if a server of HTTP/2 has refused it, and after some responses. It sends the body from its first byte
    /// on.
    /// - Returns: Whether libcurl may send the request. If not, the transfer is aborted.
    func beginSending(on ports: ConnectionPorts) -> Bool {
        if let reason = reasonNotToSend {
            abort = .failure(URLError(.networkConnectionLost, because: reason))
            return false
        }
        connection = .none
        let made = easy.map { synchronizer_info_long($0, CURLINFO_NUM_CONNECTS) } ?? 0
        let isNew = made > connectionsMade
        connectionsMade = made
        let isMultiplexed = speaksHTTP2 || CurlVersion.hasHTTP3 && pool.multiplexes(exchange.peer)
        if isReused {
            // The connection may have another socket than before.
            socket = isMultiplexed ? pool.sharedSocket(at: ports) : -1
            // `closeSpeakingConnections` closes no HTTP/2 connection.
            let isSilent = pool.closeSpeakingConnections() && !hasDecryptedBytes
            guard isMultiplexed ? !pool.hasEnded(socket) : isSilent else {
                abort = .needsNewConnection
                return false
            }
        } else if exchange.isSecure {
            pool.connected(to: exchange.peer)
        }
        guard isOwnTunnel(isNew: isNew) else {
            abort = .needsNewConnection
            return false
        }
        if isMultiplexed, !isNew { usedKeptConnection = true }
        if isMultiplexed { pool.noteMultiplexed(socket) }
        connection = isMultiplexed ? .multiplexed : .exclusive(ports)
        noteTLS()
        noteProgress()
        sent = 0
        return true
    }

    /// Begins to wait for the server's closure alert, if the connection of HTTP/1 is one of TLS.
    private func noteTLS() {
        var library = CURLSSLBACKEND_NONE
        tls = exchange.isEncrypted ? easy.flatMap { synchronizer_tls($0, &library) } : nil
        guard case .exclusive = connection, let tls, ClosureAlerts.areReported(tls) else { return closure = .unknown }
        closure = .awaited
    }

    /// Why the request must not be sent again; nil if it may be sent.
    private var reasonNotToSend: String? {
        guard case .awaited = response else { return "the response has begun, and can't be had again" }
        if sent > 0, !exchange.body.canBeSentAgain { return "the body of the request can't be read twice" }
        guard serverMayHaveRequest, !Self.idempotentMethods.contains(exchange.method) else { return nil }
        return "the server has received the request, and closed the connection"
    }

    /// Whether the server may have received the whole request on a connection that was lost.
    private var serverMayHaveRequest: Bool {
        switch connection {
        case .none, .exclusive: false
        // The bytes of the connection do not tell which requests the server has received. On a new connection, libcurl sends the
        // request again without an error only if the server has refused it (RFC 9113 §8.7). On a kept connection, it does so
        // whatever has happened.
        case .multiplexed: hasSentBody && (usedKeptConnection || message.pointee != 0)
        case .lost(let mayHaveRequest): mayHaveRequest
        }
    }

    /// Call it when a socket is about to be closed. If the request was sent on it by HTTP/1, and no response has begun, this finds
    /// out whether the server may have received the request. It cannot if the connection was already dead.
    func willClose(_ closing: Int32, at ports: ConnectionPorts) {
        guard case .exclusive(let own) = connection, case .awaited = response,
            socket == -1 ? own.matches(ports) : socket == closing
        else { return }
        let closeNotify = exchange.isEncrypted ? Self.maximumCloseNotify : 0
        connection = .lost(mayHaveRequest: hasSentBody && synchronizer_may_be_received(closing, closeNotify))
    }

    /// The maximum size of the record in which OpenSSL says that it closes a connection: libcurl sends it before it closes the
    /// socket. It has a head of 5 bytes, an initialization vector of 16, and 64 for the alert, an HMAC-SHA384 and padding (RFC 5246
    /// §6.2.3.2). A request is longer.
    private static let maximumCloseNotify: Int32 = 85

    /// Accepts the first line of a response, unless it can't be the response to this request. A server may respond before it has
    /// the whole body of a request, but not before it has the head.
    /// - Returns: Whether the line is accepted. If not, the transfer is aborted.
    func acceptFirstLine(_ line: UnsafeRawBufferPointer) -> Bool {
        guard exchange.body.isEmpty, isReused, pool.hasUnacknowledgedBytes(self), !namesRequest(line) else {
            return true
        }
        // The server will receive this request, too. Only GET and HEAD may be sent twice.
        let canBeSentAgain = exchange.method == "GET" || exchange.method == "HEAD"
        abort =
            canBeSentAgain
            ? .needsNewConnection
            : .failure(
                URLError(.networkConnectionLost, because: "a response arrived before the server had the request"))
        return false
    }

    /// Tells the pool if the connection is one of HTTP/2 or HTTP/3.
    /// - Returns: False if the head claims a version that the connection does not have. libcurl 7.88 accepts such a head. Then the
    ///   transfer is aborted.
    func checkVersion(of head: CurlResponseHead) -> Bool {
        guard head.version == "HTTP/2" || head.version == "HTTP/3" else { return true }
        guard multiplexes(head.version) else {
            abort = .failure(
                URLError(.badServerResponse, because: "a server of HTTP/1 claims to speak \(head.version)"))
            return false
        }
        pool.peerMultiplexes(self)
        return true
    }

    /// Whether the connection has this version: HTTP/2 or HTTP/3, whose responses say which request they answer.
    private func multiplexes(_ version: String) -> Bool {
        version == "HTTP/3" ? exchange.isSecure && CurlVersion.hasHTTP3 : speaksHTTP2
    }

    /// Whether the first line of a response says which request it answers.
    private func namesRequest(_ line: UnsafeRawBufferPointer) -> Bool {
        ["HTTP/2", "HTTP/3"].contains { line.starts(with: $0.utf8) && multiplexes($0) }
    }

    /// Forbids libcurl to reuse the connection after a refusal. Squid may refuse a request before it has read the whole body, and
    /// then never reads the rest, so the next request on the connection would wait in vain. The session can't tell whether the
    /// rest was read.
    func abandonConnection(after head: CurlResponseHead) {
        guard !exchange.body.isEmpty, [401, 407, 413, 417].contains(head.status), head.version.hasPrefix("HTTP/1")
        else { return }
        forbidReuse()
    }

    /// Forbids libcurl to use the connection for another request.
    func forbidReuse() {
        if let easy { _ = synchronizer_setopt_long(easy, CURLOPT_FORBID_REUSE, 1) }
    }

    /// Prepares the handle for a new connection, if the request has to be sent again.
    /// - Parameter code: How libcurl has ended the transfer.
    /// - Returns: Whether the request has to be sent again.
    func prepareToSendAgain(after code: CURLcode) -> Bool {
        guard easy != nil else { return false }
        if endedUnanswered(code) {
            isSentAgain = true
            (connection, socket) = (.none, -1)
            return true
        }
        guard isRejected || isCutOff(code) else { return false }
        (abort, socket, needsNewConnection) = (nil, -1, true)
        return true
    }

    /// Whether a callback has rejected the connection.
    private var isRejected: Bool { if case .needsNewConnection = abort { true } else { false } }

    /// Whether a kept connection turned out to be dead while libcurl sent the body. libcurl sends the request again only if it
    /// finds that out while it sends the head or reads.
    private func isCutOff(_ code: CURLcode) -> Bool {
        guard case .awaited = response else { return false }
        return code == CURLE_SEND_ERROR && isReused && !hasSentBody && exchange.body.canBeSentAgain
    }

    /// Whether an HTTP/2 connection ended before any byte of the response arrived, and the request may be sent a second time. libcurl
    /// itself sends the request again only after a reset of a kept connection.
    private func endedUnanswered(_ code: CURLcode) -> Bool {
        guard case (.awaited, .multiplexed) = (response, connection), failure == nil, !isSentAgain,
            Self.idempotentMethods.contains(exchange.method), exchange.body.canBeSentAgain
        else { return false }
        switch code {
        case CURLE_PARTIAL_FILE, CURLE_SEND_ERROR: return isReused
        // Usually a `GOAWAY` excludes the request, but libcurl does not say so.
        case CURLE_HTTP2: return true
        default: return false
        }
    }
}

/// The ports of a TCP connection, and the address of its peer. They identify the connection before libcurl reports its socket: if the
/// server closes a connection at once, libcurl never does.
struct ConnectionPorts {
    /// As text.
    var address = ""
    var peer: Int32 = 0
    var own: Int32 = 0

    /// Whether the socket with these ports is that of this connection. Connections to different peers can have the same ports.
    func matches(_ socket: ConnectionPorts) -> Bool {
        own == socket.own && (socket.peer == 0 || peer == socket.peer && address == socket.address)
    }
}

extension ConnectionPorts {
    /// - Postcondition: `peer` is 0 if the peer has reset the connection.
    init(of socket: Int32) {
        self.init()
        address = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            guard let start = text.baseAddress else { return "" }
            synchronizer_ports(socket, &peer, &own, start)
            return String(cString: start)
        }
    }
}
