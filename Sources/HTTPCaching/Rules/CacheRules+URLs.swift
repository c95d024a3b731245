extension CacheRules {
    /// The key under which responses for a URI are stored: the URI without its fragment, with scheme and host in lower case,
    /// without a default port, with `/` for an empty path, and without dot segments. So equivalent URIs share an entry (RFC 9110
    /// §4.2.3, RFC 3986 §6.2.2.3).
    package static func cacheKey(of url: String) -> String {
        if url.withBytes(isKeyAlready) { return url }
        let key = url.prefix { $0 != "#" }
        guard let parts = URIParts(key) else { return String(key) }
        let path = parts.rest.prefix { $0 != "?" }
        let query = parts.rest[path.endIndex...]
        return parts.scheme + "://" + parts.userInfo + parts.hostAndPort + withoutDotSegments(path) + query
    }

    /// Whether two absolute URIs have the same origin: scheme, host and port (RFC 9110 §4.3.1).
    package static func sameOrigin(_ one: String, _ other: String) -> Bool {
        guard let one = URIParts(withoutFragment: one), let other = URIParts(withoutFragment: other) else {
            return false
        }
        return one.scheme == other.scheme && one.hostAndPort == other.hostAndPort
    }

    /// The path without its segments `.` and `..`, which may be percent-encoded; `/` for an empty path (RFC 3986 §5.2.4).
    private static func withoutDotSegments(_ path: Substring) -> String {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            switch segment.lowercased() {
            case ".", "%2e": break
            case "..", ".%2e", "%2e.", "%2e%2e": _ = kept.popLast()
            default:
                kept.append(segment)
                continue
            }
            if index == segments.count - 1 { kept.append("") }
        }
        return "/" + kept.joined(separator: "/")
    }

    /// The origin of an absolute URI, equal for URIs that have the ``sameOrigin(_:_:)``; nil if the URI has no authority.
    package static func origin(of url: String) -> String? {
        URIParts(withoutFragment: url).map { $0.scheme + "://" + $0.hostAndPort }
    }

    /// The user name and the password in an absolute URI, with the `@`, as they are written there; empty without them.
    package static func userInfo(of url: String) -> String { URIParts(withoutFragment: url)?.userInfo ?? "" }

    /// Makes a URI reference absolute (RFC 3986 §5.2); nil if it is malformed.
    static func resolve(_ reference: String, against base: String) -> URL? {
        guard let base = URL(string: base) else { return nil }
        return URL(string: reference, relativeTo: base)?.absoluteURL
    }
}

extension CacheRequest {
    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: an absolute HTTP URL.
    ///   - method: the method.
    ///   - fields: all fields that will be sent, including cookies, because they select among the stored responses.
    ///   - policy: what the caller wants of the cache.
    public init(
        url: URL, method: String = "GET", fields: HTTPFields = HTTPFields(), policy: CachePolicy = .useProtocol
    ) {
        self.init(url: CacheRules.cacheKey(of: url.absoluteString), method: method, fields: fields, policy: policy)
    }
}

extension URL {
    /// Whether it is an HTTP URL with its scheme in lower case. This test is faster than reading `scheme`.
    package var isPlainHTTP: Bool {
        let text = absoluteString
        return text.utf8.starts(with: "http://".utf8) || text.utf8.starts(with: "https://".utf8)
    }

    /// The same URL with its scheme in lower case. Schemes compare without regard to case (RFC 3986 §3.1), but
    /// `URLSession` on Linux supports them in lower case only.
    package var withLowercaseScheme: URL {
        guard !isPlainHTTP, let scheme, scheme != scheme.lowercased() else { return self }
        return URL(string: scheme.lowercased() + absoluteString.dropFirst(scheme.count)) ?? self
    }
}

/// The parts of an absolute URI with an authority: scheme and host in lower case, no default port.
private struct URIParts {
    let scheme: String
    /// Includes the `@`.
    let userInfo: String
    let hostAndPort: String
    /// Path and query.
    let rest: Substring

    init?(_ uri: Substring) {
        guard let colon = uri.firstIndex(of: ":"), uri[colon...].hasPrefix("://") else { return nil }
        scheme = uri[..<colon].lowercased()
        let afterScheme = uri[colon...].dropFirst(3)
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" }
        rest = afterScheme[authority.endIndex...]
        let host = authority.lastIndex(of: "@").map { authority.index(after: $0) } ?? authority.startIndex
        userInfo = String(authority[..<host])
        hostAndPort = Self.withoutDefaultPort(authority[host...].lowercased(), scheme: scheme)
    }

    init?(withoutFragment uri: String) {
        self.init(uri.prefix { $0 != "#" })
    }

    private static func withoutDefaultPort(_ hostAndPort: String, scheme: String) -> String {
        let port = scheme == "http" ? ":80" : scheme == "https" ? ":443" : ":"
        for suffix in [port, ":"] where hostAndPort.hasSuffix(suffix) {
            return String(hostAndPort.dropLast(suffix.utf8.count))
        }
        return hostAndPort
    }
}

/// Whether the URI is a key already, as nearly all are. The caller asks this first, because it copies nothing.
private func isKeyAlready(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var slashes = 0
    var port: Int?
    var previous = UInt8(0)
    for byte in bytes {
        defer { previous = byte }
        switch byte {
        case UInt8(ascii: "#"): return false
        // A segment that begins like this may be a dot segment.
        case UInt8(ascii: "."), UInt8(ascii: "%"):
            if slashes == 3, previous == UInt8(ascii: "/") { return false }
        case UInt8(ascii: "/"): slashes += 1
        case _ where slashes == 3: continue
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "["):
            return false
        case UInt8(ascii: ":") where slashes == 2: port = 0
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            port = port.map { min($0 * 10 + Int(byte - UInt8(ascii: "0")), 65_536) }
        default: break
        }
        if slashes > 3 { slashes = 3 }
    }
    return slashes == 3 && port != 0 && port != 80 && port != 443
}
