import Foundation

/// The states of a transfer.
extension Transfer {
    /// The connection of the request.
    enum Connection {
        /// libcurl has not begun to send the request.
        case none
        /// libcurl has begun to send the request by HTTP/1.
        case exclusive(ConnectionPorts)
        /// libcurl has begun to send the request by HTTP/2 or HTTP/3.
        case multiplexed
        /// The connection of HTTP/1 was closed before a response began. The server may have received the whole request.
        case lost(mayHaveRequest: Bool)
    }

    /// Whether the server has said over TLS that it closes the connection.
    enum Closure {
        /// There is no TLS, no report of it, or a connection that requests share.
        case unknown
        case awaited
        case announced
    }

    /// What libcurl does with the body of the request.
    enum Sending {
        case active
        /// libcurl waits, because the task is suspended, or its stream has no bytes yet.
        case paused
        /// The stream of the body has ended.
        case ended
    }

    /// How far the response is, and what happens to it.
    enum Response {
        /// Nothing has arrived.
        case awaited
        /// A line has arrived, but the head has not ended.
        case begun
        /// The head has arrived. The delegate has not decided.
        case pending(CurlResponseHead)
        case delivered
        /// The task sends another request. A short rest of this response is read, so that the connection can be used again.
        case discarded
    }

    /// Why a callback has aborted libcurl's transfer.
    enum Abort {
        case failure(URLError)
        /// The request can be sent again, on a new connection.
        case needsNewConnection
    }

    /// How the transfer has ended.
    enum End {
        /// It has not ended, or the task knows how.
        case none
        case complete
        case failed(URLError)
    }
}
