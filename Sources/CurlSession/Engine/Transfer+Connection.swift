import CCurl
import Foundation

/// Whether the bytes on a reused connection of HTTP/1 can be the response to this request.
///
/// They cannot if they were there before the request was sent, or if the server's kernel has not acknowledged the request
/// when they have arrived. Then the request is sent again on a new connection.
extension Transfer {
    private var isReused: Bool { easy.map { synchronizer_info_long($0, CURLINFO_NUM_CONNECTS) == 0 } ?? false }

    /// libcurl has a connection, and is about to send the request.
    func maySendRequest() -> Bool {
        guard isReused else { return true }
        socket = -1  // it may be another one than before
        // `closeSpeakingConnections` closes no HTTP/2 connection.
        guard !pool.closeSpeakingConnections(), !pool.multiplexes(exchange.origin) else { return true }
        needsNewConnection = true
        return false
    }

    /// The first line of the response has arrived. A server may answer before it has the whole body of a request, but not
    /// before it has the head.
    func isOwnResponse() -> Bool {
        guard exchange.body.isEmpty, isReused, pool.hasUnacknowledgedBytes(self) else { return true }
        // The server will get the request, and any other method may not be sent twice.
        needsNewConnection = exchange.method == "GET" || exchange.method == "HEAD"
        if !needsNewConnection { failure = URLError(.networkConnectionLost) }
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
