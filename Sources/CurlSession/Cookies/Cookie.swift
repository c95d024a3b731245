import Foundation

/// A cookie as RFC 6265bis §5.5 describes it.
struct Cookie: Sendable, Hashable {
    var name: String
    var value: String
    /// In lower case, without a leading dot.
    var domain: String
    /// Whether the cookie is sent only to the host `domain`, not to its subdomains.
    var isHostOnly: Bool
    var path: String
    var isSecure: Bool
    var isHTTPOnly: Bool
    /// Nil for a session cookie.
    var expires: Date?

    /// `name=value`, or the value alone if the cookie has no name.
    var text: String { name.isEmpty ? value : "\(name)=\(value)" }

    func isExpired(at now: Date) -> Bool { expires.map { $0 <= now } ?? false }
}

/// The parts of a request's URL that decide about its cookies.
struct CookieTarget: Sendable, Hashable {
    var host: String
    /// Percent-encoded, without dot segments, at least "/".
    var path: String
    var isSecure: Bool

    init?(_ url: URL) {
        guard let host = url.host(percentEncoded: true)?.lowercased(), !host.isEmpty else { return nil }
        let path = url.path(percentEncoded: true)
        self.host = host
        self.path = path.isEmpty ? "/" : DotSegments.removed(from: path)
        isSecure = url.scheme?.lowercased() == "https"
    }

    func accepts(_ cookie: Cookie) -> Bool {
        (isSecure || !cookie.isSecure)
            && (cookie.isHostOnly ? host == cookie.domain : Self.domain(cookie.domain, covers: host))
            && Self.path(cookie.path, covers: path)
    }

    /// The path of cookies without a `Path` attribute (RFC 6265bis §5.1.4).
    var defaultPath: String {
        guard path.utf8.first == UInt8(ascii: "/"), let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return "/"
        }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Whether a host matches a domain (RFC 6265bis §5.1.3). An IP address matches only itself.
    static func domain(_ domain: String, covers host: String) -> Bool {
        if host == domain { return true }
        let (host8, domain8) = (host.utf8, domain.utf8)
        guard !domain8.isEmpty, host8.count > domain8.count, !isAddress(host) else { return false }
        let rest = host8.suffix(domain8.count + 1)
        return rest.first == UInt8(ascii: ".") && rest.dropFirst().elementsEqual(domain8)
    }

    /// Whether a request's path matches a cookie's (RFC 6265bis §5.1.4).
    static func path(_ path: String, covers request: String) -> Bool {
        let (path, request) = (path.utf8, request.utf8)
        guard request.starts(with: path) else { return false }
        return request.count == path.count || path.last == UInt8(ascii: "/")
            || request.dropFirst(path.count).first == UInt8(ascii: "/")
    }

    /// Whether a host is an IPv6 address, or an IPv4 address in any form: then its last label is a number.
    static func isAddress(_ host: String) -> Bool {
        guard !host.utf8.contains(UInt8(ascii: ":")) else { return true }
        guard let label = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
        return label.allSatisfy { (48...57).contains($0) } || label.starts(with: "0x".utf8)
    }

    /// The host and the domains above it.
    static func domains(above host: String) -> [String] {
        guard !isAddress(host) else { return [host] }
        var (domains, rest) = ([host], host[...])
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")), domains.count < 128 {
            rest = rest[rest.utf8.index(after: dot)...]
            domains.append(String(rest))
        }
        return domains
    }
}
