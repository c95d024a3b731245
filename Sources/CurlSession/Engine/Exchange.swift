import Foundation
import FoundationNetworking

/// A request that is ready to be sent: its libcurl options.
struct Exchange: Sendable {
    let url: URL
    /// The URL as libcurl gets it: without dot segments, and with a host in ASCII.
    let target: String
    /// Scheme, host and port: what a connection leads to.
    let origin: String
    let method: String
    /// The field lines of the request itself.
    private(set) var fields: [String: String]
    let body: RequestBody
    /// Nanoseconds for which the transfer may make no progress; nil without limit.
    let idleLimit: UInt64?
    /// The proxy that it goes through; nil for a direct connection.
    let proxy: ProxyRules.Proxy?
    /// Whether redirects have led to another origin, which gets no credentials.
    let isForeign: Bool

    /// - Throws: `.badURL` or `.unsupportedURL`, or `.dataLengthExceedsMaximum` for a GET with a body.
    /// - Parameter additional: Fields that take the place of the request's own.
    init(
        _ request: URLRequest, body: RequestBody, idleLimit: Double, proxy: ProxyRules.Proxy? = nil,
        additional: [String: String] = [:], isForeign: Bool = false
    ) throws(URLError) {
        guard let url = request.url else { throw URLError(.badURL) }
        target = HostName.withHostInASCII(URLReference.target(of: url.absoluteString))
        guard let origin = Self.origin(of: target) else { throw URLError(.unsupportedURL) }
        guard !origin.isEmpty else { throw URLError(.badURL) }
        self.url = url
        self.origin = origin
        method = request.httpMethod ?? "GET"
        guard Self.isToken(method) else { throw URLError(.badURL) }
        var fields = request.allHTTPHeaderFields ?? [:]
        for (name, value) in additional { fields.setField(name, to: value) }
        guard method != "GET" || body.isEmpty else { throw URLError(.dataLengthExceedsMaximum) }
        self.fields = fields
        self.proxy = proxy
        self.isForeign = isForeign
        self.body = body
        self.idleLimit = EngineClock.nanoseconds(idleLimit)
        // Only the proxy that asked for it gets it, neither a server nor one behind a tunnel.
        if !talksToProxy, !self.fields.isEmpty { self.fields.setField(FieldName.proxyAuthorization, to: nil) }
    }

    /// Whether the request goes to a proxy of HTTP itself, not through it in a tunnel: only then is a 407 the proxy's.
    var talksToProxy: Bool { !isSecure && proxy?.url.hasPrefix("http") == true }

    var isSecure: Bool { origin.utf8.count > 5 && origin.utf8.dropFirst(4).first != UInt8(ascii: ":") }

    /// The part of an http or https URL before its path; nil for other schemes, empty without a host.
    static func origin(of url: String) -> String? {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = url[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = bytes[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return "" }
        let authority = rest.dropFirst(2)
        let end = authority.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        guard authority.startIndex < end ?? authority.endIndex else { return "" }
        return scheme + String(url[colon..<(end ?? authority.endIndex)])
    }

    /// Whether a method can be sent: libcurl would send line breaks in it as they are.
    private static func isToken(_ method: String) -> Bool {
        !method.isEmpty && method.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }
}
