import Foundation

/// The network timings of one request: ``LoadTrace/network``.
///
/// Times are in seconds, and nil for phases that did not happen, as on a reused connection. On Linux the values are libcurl's, on
/// Apple's systems those of `URLSessionTaskMetrics`.
public struct NetworkTrace: Sendable, Hashable {
    /// Seconds for the DNS lookup.
    public var nameLookup: TimeInterval?
    /// Seconds from the lookup until the connection was open (TCP, or QUIC with its TLS).
    public var connect: TimeInterval?
    /// Seconds for the TLS handshake.
    public var secureConnection: TimeInterval?
    /// Seconds from the start of the request to the first byte of the response.
    public var firstByte: TimeInterval?
    /// The protocol by its ALPN name: `http/1.1`, `h2`, `h3`.
    public var protocolName: String?
    /// Whether the connection was reused.
    public var isConnectionReused: Bool?
    /// The address of the server, or of the proxy.
    public var remoteAddress: String?
    /// Bytes of the request sent, head and body.
    public var bytesSent = 0
    /// Bytes of the response on the wire, head and body, before decoding. ``LoadTrace/bytesReceived`` counts the decoded body.
    public var bytesReceived = 0

    /// Creates an empty trace.
    public init() {}
}

extension NetworkTrace: CustomStringConvertible {
    /// One clause for a log or a bug report.
    public var description: String {
        var parts = [protocolName, remoteAddress].compactMap { $0 }
        if isConnectionReused == true { parts.append("connection reused") }
        let times = [("lookup", nameLookup), ("connect", connect), ("TLS", secureConnection)]
        parts += times.compactMap { name, seconds in seconds.map { "\(name) \($0.inMilliseconds)" } }
        if bytesSent > 0 { parts.append("\(bytesSent) B sent") }
        if bytesReceived > 0 { parts.append("\(bytesReceived) B on the wire") }
        return parts.joined(separator: ", ")
    }
}

extension TimeInterval {
    /// As text, to a tenth of a millisecond.
    var inMilliseconds: String { "\((self * 10_000).rounded() / 10) ms" }
}
