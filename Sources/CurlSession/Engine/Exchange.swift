import Foundation
import FoundationNetworking

/// A request that is ready to be sent, in the form that libcurl's options need.
struct Exchange: Sendable {
    let url: URL
    /// The URL as libcurl gets it: without dot segments, and with a host in ASCII.
    let target: String
    /// The scheme and the authority of `target`, such as `https://example.com:8443`.
    let origin: String
    let method: String
    /// The request's fields, without the session's.
    private(set) var fields: [String: String]
    /// The request's `Proxy-Authorization` for the proxy that is asked for a tunnel. It is not among `fields`, which go through the
    /// tunnel.
    private(set) var tunnelAuthorization: String?
    let body: RequestBody
    /// Nanoseconds for which the transfer may make no progress; nil without limit.
    let idleLimit: UInt64?
    /// The proxy of the request; nil for a direct connection.
    let proxy: ProxyRules.Proxy?
    /// Whether redirects have led to another origin, which must not get the session's credentials.
    let isForeign: Bool

    /// - Throws: `.badURL` or `.unsupportedURL`, or `.dataLengthExceedsMaximum` for a GET with a body.
    /// - Parameters:
    ///   - proxyAnswer: The `Proxy-Authorization` for a proxy that receives the request itself. It replaces the request's own.
    ///   - additional: Fields that are added to the request's own, and replace those with the same name.
    init(
        _ request: URLRequest, body: RequestBody, idleLimit: Double, proxy: ProxyRules.Proxy? = nil,
        proxyAnswer: String? = nil, additional: [String: String] = [:], isForeign: Bool = false
    ) throws(URLError) {
        guard let url = request.url else { throw URLError(.badURL, because: "the request has no URL") }
        target = HostName.withHostInASCII(URLReference.target(of: url.absoluteString))
        guard let origin = URLReference.origin(of: target) else {
            throw URLError(.unsupportedURL, because: "the scheme of the URL is neither http nor https")
        }
        guard !origin.isEmpty else { throw URLError(.badURL, because: "the URL has no host") }
        self.url = url
        self.origin = origin
        method = request.httpMethod ?? "GET"
        guard Self.isToken(method) else { throw URLError(.badURL, because: "the method can't be sent") }
        var fields = request.allHTTPHeaderFields ?? [:]
        for (name, value) in additional { fields.setField(name, to: value) }
        guard method != "GET" || body.isEmpty else {
            throw URLError(.dataLengthExceedsMaximum, because: "a GET has no body")
        }
        self.fields = fields
        self.proxy = proxy
        self.isForeign = isForeign
        self.body = body
        self.idleLimit = EngineClock.nanoseconds(idleLimit)
        // Only the proxy may get this field, not the server of a direct connection or of a tunnel.
        if talksToProxy {
            if let proxyAnswer { self.fields.setField(FieldName.proxyAuthorization, to: proxyAnswer) }
        } else if !fields.isEmpty {
            if usesTunnel {
                tunnelAuthorization = fields.first { $0.key.isFieldName(FieldName.proxyAuthorization) }?.value
            }
            self.fields.setField(FieldName.proxyAuthorization, to: nil)
        }
    }

    /// Whether an HTTP proxy receives the request itself, rather than a tunnel for it. Only then does a 407 come from the proxy.
    var talksToProxy: Bool { !isSecure && proxy?.url.hasPrefix("http") == true }

    /// Whether an HTTP proxy is asked for a tunnel (CONNECT).
    var usesTunnel: Bool { isSecure && proxy?.url.hasPrefix("http") == true }

    /// Whether libcurl sends the request over TLS: to the server, or to an HTTPS proxy that receives the request itself.
    var isEncrypted: Bool { isSecure || talksToProxy && proxy?.url.hasPrefix("https:") == true }

    /// Whether the request needs a connection of its own, even if others share one. A stream can't be read twice, and a kept
    /// connection may turn out to be dead.
    var isAlone: Bool { if case .stream = body { true } else { false } }

    /// What libcurl connects to, perhaps through a tunnel: the origin, or an HTTP proxy that receives the request itself. The limit
    /// of connections applies to it.
    var peer: String { talksToProxy ? proxy?.url ?? origin : origin }

    var isSecure: Bool { origin.utf8.count > 5 && origin.utf8.dropFirst(4).first != UInt8(ascii: ":") }

    /// Whether a method can be sent. libcurl does not check it, and would send line breaks in it as they are.
    private static func isToken(_ method: String) -> Bool {
        !method.isEmpty && method.utf8.allSatisfy { $0 > 32 && $0 < 127 }
    }
}

extension Exchange {
    /// The names that have to be looked up before this request can be sent: the server's, or with a proxy the proxy's, or both for
    /// some SOCKS proxies. An address needs no lookup, and libcurl knows `localhost` itself.
    var namesToLookUp: [HostName] {
        let server = HostName(authorityOf: target, defaultPort: isSecure ? 443 : 80)
        guard let proxy else { return [server].compactMap { $0 } }
        var names = [HostName(authorityOf: proxy.url, defaultPort: proxy.url.hasPrefix("https:") ? 443 : 1080)]
        // With these schemes, libcurl sends the proxy the server's address. Other proxies get the server's name.
        if proxy.url.hasPrefix("socks4:") || proxy.url.hasPrefix("socks5:") {
            names.append(server)
        }
        return names.compactMap { $0 }
    }
}
