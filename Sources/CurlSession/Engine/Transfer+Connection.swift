import CCurl
import Foundation

/// Decides whether the bytes on a reused connection of HTTP/1 can be the response to this request.
///
/// They cannot if they arrived before the request was sent, whether the kernel or the TLS library has them. Nor can they if the
/// server's kernel has not acknowledged the request when they arrive. Then the request is sent again on a new connection.
extension Transfer {
    /// The methods whose requests may be sent twice (RFC 9110 §9.2.2, RFC 10008).
    private static let idempotentMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"]

    /// Whether bytes have arrived over TLS that libcurl has not read. A record may begin with the end of the last response, of which
    /// libcurl reads only the bytes that were missing.
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

    /// Whether libcurl has not begun to connect, because a connection that it is making for another transfer may be shared.
    var waitsInLibcurl: Bool { easy != nil && connection == nil && socket < 0 && lookup.awaited == nil }

    /// Notes the socket on which libcurl waits. If the transfer has waited for a connection, it begins to make one now.
    func waits(on socket: Int32) {
        if waitsInLibcurl { noteProgress() }
        self.socket = socket
    }

    /// Whether libcurl, which has chosen a connection, may send the request on it. libcurl sends a request again if a kept
    /// connection turns out to be dead, if a server of HTTP/2 has refused it, and after some responses. It sends the body from
    /// its first byte on.
    func maySendRequest(on connection: ConnectionPorts) -> Bool {
        if let reason = reasonNotToSend {
            failure = URLError(.networkConnectionLost, because: reason)
            return false
        }
        isMultiplexed = speaksHTTP2 || CurlVersion.hasHTTP3 && pool.multiplexes(exchange.peer)
        if isReused {
            socket = -1  // the connection may have another socket
            // `closeSpeakingConnections` closes no HTTP/2 connection.
            let isSilent = pool.closeSpeakingConnections() && !hasDecryptedBytes
            needsNewConnection = !isSilent && !isMultiplexed
        }
        guard !needsNewConnection else { return false }
        if exchange.isSecure, !isReused { pool.connected(to: exchange.peer) }
        self.connection = connection
        noteProgress()
        sent = 0
        return true
    }

    /// Why the request must not be sent again; nil if it may be sent.
    private var reasonNotToSend: String? {
        if isBegun { return "the response has begun, and can't be had again" }
        if sent > 0, !exchange.body.canBeSentAgain { return "the body of the request can't be read twice" }
        guard wasReceived || isLostWithRequest, !Self.idempotentMethods.contains(exchange.method) else { return nil }
        return "the server has received the request, and closed the connection"
    }

    /// Whether a connection of HTTP/2 was lost on which the whole request had been sent. Its bytes do not tell which request the
    /// server has received. If the server has refused the request (RFC 9113 §8.7), libcurl reports no error.
    private var isLostWithRequest: Bool {
        isMultiplexed && connection != nil && hasSentBody && message.pointee != 0
    }

    /// Call it when a socket is about to be closed. If the request was sent on it by HTTP/1, and no response has begun, this finds out
    /// whether the server may have received the request. It cannot if the connection was already dead.
    func willClose(_ closing: Int32, at ports: ConnectionPorts) {
        guard let connection, !isBegun, !isMultiplexed,
            socket == -1 ? connection.matches(ports) : socket == closing
        else { return }
        wasReceived =
            hasSentBody && synchronizer_may_be_received(closing, exchange.isEncrypted ? Self.longestCloseNotify : 0)
        self.connection = nil
    }

    /// The size of the longest record in which OpenSSL says that it closes a connection: libcurl sends it before it closes the socket.
    /// It has a head of 5 bytes, an initialization vector of 16, and 64 for the alert, an HMAC-SHA384 and padding (RFC 5246 §6.2.3.2).
    /// A request is longer.
    private static let longestCloseNotify: Int32 = 85

    /// Whether the response whose first line has arrived can be the response to this request. A server may respond before it has
    /// the whole body of a request, but not before it has the head.
    func isOwnResponse(_ line: UnsafeRawBufferPointer) -> Bool {
        guard exchange.body.isEmpty, isReused, pool.hasUnacknowledgedBytes(self), !namesRequest(line) else {
            return true
        }
        // The server will receive this request, too. Only GET and HEAD may be sent twice.
        needsNewConnection = exchange.method == "GET" || exchange.method == "HEAD"
        if !needsNewConnection {
            failure = URLError(.networkConnectionLost, because: "a response arrived before the server had the request")
        }
        return false
    }

    /// Notes if the connection is one of HTTP/2 or HTTP/3.
    /// - Returns: False if the head claims a version that the connection does not have. libcurl 7.88 accepts such a head.
    func acceptsVersion(of head: CurlResponseHead) -> Bool {
        guard head.version == "HTTP/2" || head.version == "HTTP/3" else { return true }
        if multiplexes(head.version) {
            pool.peerMultiplexes(self)
        } else {
            failure = URLError(.badServerResponse, because: "a server of HTTP/1 claims to speak \(head.version)")
        }
        return failure == nil
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

    /// Whether the request has to be sent again. If so, it will be sent on a new connection.
    /// - Parameter code: How libcurl has ended the transfer.
    func leavesConnection(after code: CURLcode) -> Bool {
        guard let easy, needsNewConnection || isCutOff(code) else { return false }
        needsNewConnection = false
        _ = synchronizer_setopt_long(easy, CURLOPT_FRESH_CONNECT, 1)
        return true
    }

    /// Whether a kept connection turned out to be dead while libcurl sent the body. libcurl sends the request again only if it
    /// finds that out while it sends the head or reads.
    private func isCutOff(_ code: CURLcode) -> Bool {
        code == CURLE_SEND_ERROR && isReused && !isBegun && !hasSentBody && exchange.body.canBeSentAgain
    }
}

/// The ports of a TCP connection. They identify it before libcurl reports its socket: if the server closes a connection at once,
/// libcurl never does.
struct ConnectionPorts {
    var peer: Int32 = 0
    var own: Int32 = 0

    /// Whether the socket with these ports is that of this connection.
    func matches(_ socket: ConnectionPorts) -> Bool {
        own == socket.own && (peer == socket.peer || socket.peer == 0)
    }
}

extension ConnectionPorts {
    /// - Postcondition: `peer` is 0 if the peer has reset the connection.
    init(of socket: Int32) {
        self.init()
        synchronizer_ports(socket, &peer, &own)
    }
}
