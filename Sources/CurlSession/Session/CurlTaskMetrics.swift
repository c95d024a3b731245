/// What a task's last request took, by libcurl's account.
///
/// Times are seconds since the request left the session's queue. A stage that did not take place, such as the TLS
/// handshake on a reused connection, has the time of the stage before it or 0.
public struct CurlTaskMetrics: Sendable, Hashable {
    /// When the name had been looked up.
    public var nameLookup: Double = 0
    /// When the connection had been established.
    public var connect: Double = 0
    /// When the TLS handshake was complete; 0 without one.
    public var secureConnect: Double = 0
    /// When the first byte of the response arrived.
    public var firstByte: Double = 0
    /// When the response was complete; 0 before.
    public var total: Double = 0
    /// The protocol as ALPN names it: `http/1.0`, `http/1.1`, `h2` or `h3`.
    public var protocolName = ""
    /// Whether the request used a connection that another request had opened.
    public var reusedConnection = false
    /// The address and port of the peer (a proxy's, if there is one), such as `127.0.0.1:80` or `[::1]:80`.
    public var remoteAddress = ""
    /// Bytes of the response's heads and body as they were transferred, without the framing of chunks.
    public var bytesReceived: Int64 = 0
    /// Bytes of the body after content decoding.
    public var bytesDecoded: Int64 = 0
    /// Bytes of the request's head and body.
    public var bytesSent: Int64 = 0
}
