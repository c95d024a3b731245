import CCurl

/// libcurl's measurements of a task's last request.
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

extension CurlTaskMetrics {
    /// Reads libcurl's measurements of a transfer so far.
    /// - Parameters:
    ///   - lookup: Nanoseconds spent on name lookups before libcurl's clock was started.
    ///   - before: The transfer's metrics when the head had arrived; nil before that. Their `remoteAddress` is reused.
    init(_ easy: UnsafeMutableRawPointer, isFinal: Bool, lookup: UInt64, before: CurlTaskMetrics?) {
        func seconds(_ info: CURLINFO) -> Double {
            let time = Double(synchronizer_info_offset(easy, info)) / 1e6
            return time > 0 ? time + Double(lookup) / 1e9 : 0
        }
        nameLookup = seconds(CURLINFO_NAMELOOKUP_TIME_T)
        connect = seconds(CURLINFO_CONNECT_TIME_T)
        secureConnect = seconds(CURLINFO_APPCONNECT_TIME_T)
        firstByte = seconds(CURLINFO_STARTTRANSFER_TIME_T)
        total = isFinal ? seconds(CURLINFO_TOTAL_TIME_T) : 0
        protocolName = Self.name(of: synchronizer_info_long(easy, CURLINFO_HTTP_VERSION))
        reusedConnection = synchronizer_info_long(easy, CURLINFO_NUM_CONNECTS) == 0
        remoteAddress = before?.remoteAddress ?? Self.address(easy)
        bytesReceived =
            Int64(synchronizer_info_offset(easy, CURLINFO_SIZE_DOWNLOAD_T))
            + Int64(synchronizer_info_long(easy, CURLINFO_HEADER_SIZE))
        bytesSent =
            Int64(synchronizer_info_offset(easy, CURLINFO_SIZE_UPLOAD_T))
            + Int64(synchronizer_info_long(easy, CURLINFO_REQUEST_SIZE))
    }

    private static func name(of version: Int) -> String {
        switch version {
        case Int(CURL_HTTP_VERSION_1_0): "http/1.0"
        case Int(CURL_HTTP_VERSION_1_1): "http/1.1"
        case Int(CURL_HTTP_VERSION_2_0): "h2"
        case Int(CURL_HTTP_VERSION_3): "h3"
        default: ""
        }
    }

    private static func address(_ easy: UnsafeMutableRawPointer) -> String {
        guard let ip = synchronizer_info_string(easy, CURLINFO_PRIMARY_IP).map({ String(cString: $0) }), !ip.isEmpty
        else {
            return ""
        }
        let port = synchronizer_info_long(easy, CURLINFO_PRIMARY_PORT)
        return ip.utf8.contains(UInt8(ascii: ":")) ? "[\(ip)]:\(port)" : "\(ip):\(port)"
    }
}
