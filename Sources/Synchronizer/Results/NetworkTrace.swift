import Foundation

/// How the network did for one request: what ``LoadTrace/network`` tells.
///
/// Times are in seconds, and nil for what did not take place, as on a connection that was used again. On Linux the
/// numbers are libcurl's, on Apple's systems those of `URLSessionTaskMetrics`.
public struct NetworkTrace: Sendable, Hashable {
    /// Seconds for the lookup of the host's name.
    public var nameLookup: TimeInterval?
    /// Seconds from there until the connection was open (TCP, or QUIC with its TLS).
    public var connect: TimeInterval?
    /// Seconds for the handshake of TLS.
    public var secureConnection: TimeInterval?
    /// Seconds from the beginning to the first byte of the response.
    public var firstByte: TimeInterval?
    /// The protocol by its ALPN name: `http/1.1`, `h2`, `h3`.
    public var protocolName: String?
    /// Whether the connection had been used before.
    public var isConnectionReused: Bool?
    /// The address of the server, or of the proxy.
    public var remoteAddress: String?
    /// Bytes of the request that were sent, head and body.
    public var bytesSent = 0
    /// Bytes of the response on the wire, head and body, before the body's content coding was removed.
    /// ``LoadTrace/bytesReceived`` counts the body after that.
    public var bytesReceived = 0

    /// A trace of nothing.
    public init() {}
}

extension NetworkTrace: CustomStringConvertible {
    /// One clause for a log or a bug report.
    public var description: String {
        var parts = [protocolName, remoteAddress].compactMap { $0 }
        if isConnectionReused == true { parts.append("connection used again") }
        let times = [("lookup", nameLookup), ("connect", connect), ("TLS", secureConnection)]
        parts += times.compactMap { name, seconds in seconds.map { "\(name) \($0.inMilliseconds)" } }
        if bytesSent > 0 { parts.append("\(bytesSent) B sent") }
        if bytesReceived > 0 { parts.append("\(bytesReceived) B on the wire") }
        return parts.joined(separator: ", ")
    }
}

extension TimeInterval {
    /// In words, to a tenth of a millisecond.
    var inMilliseconds: String { "\((self * 10_000).rounded() / 10) ms" }
}
