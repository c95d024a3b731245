import CCurl
import Foundation

/// Decides whether the bytes on a reused connection of HTTP/1 can be the response to this request.
///
/// They cannot if they arrived before the request was sent, or if the server's kernel has not acknowledged the request when they
/// arrive. Then the request is sent again on a new connection.
extension Transfer {
    /// The methods whose requests may be sent twice (RFC 9110 §9.2.2, RFC 10008).
    private static let idempotentMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"]

    private var isReused: Bool { easy.map { synchronizer_info_long($0, CURLINFO_NUM_CONNECTS) == 0 } ?? false }

    /// Whether libcurl, which has chosen a connection, may send the request on it. libcurl sends a request again if a kept
    /// connection turns out to be dead.
    func maySendRequest() -> Bool {
        guard !wasReceived || Self.idempotentMethods.contains(exchange.method) else {
            failure = URLError(
                .networkConnectionLost, because: "the server has received the request, and closed the connection")
            return false
        }
        isRequested = true
        guard isReused else { return true }
        socket = -1  // the connection may have another socket
        // `closeSpeakingConnections` closes no HTTP/2 connection.
        guard !pool.closeSpeakingConnections(), !pool.multiplexes(exchange.origin) else { return true }
        needsNewConnection = true
        return false
    }

    /// Whether the response whose first line has arrived can be the response to this request. A server may respond before it has
    /// the whole body of a request, but not before it has the head.
    func isOwnResponse() -> Bool {
        guard exchange.body.isEmpty, isReused, pool.hasUnacknowledgedBytes(self) else { return true }
        // The server will receive this request, too. Only GET and HEAD may be sent twice.
        needsNewConnection = exchange.method == "GET" || exchange.method == "HEAD"
        if !needsNewConnection {
            failure = URLError(.networkConnectionLost, because: "a response arrived before the server had the request")
        }
        return false
    }

    /// Whether the request has to be sent again. If so, it will be sent on a new connection.
    func leavesConnection() -> Bool {
        guard let easy, needsNewConnection else { return false }
        needsNewConnection = false
        _ = synchronizer_setopt_long(easy, CURLOPT_FRESH_CONNECT, 1)
        return true
    }
}
