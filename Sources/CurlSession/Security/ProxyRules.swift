import Foundation
import FoundationNetworking

/// Decides which proxy a request uses. Pure.
///
/// If `URLSessionConfiguration.connectionProxyDictionary` is set, it alone decides, as on Apple platforms: an empty one means no
/// proxy. Otherwise the environment decides, as for curl: `http_proxy` (in lower case only, because a CGI program gets
/// `HTTP_PROXY` from its client), and `https_proxy`, `all_proxy` and `no_proxy` (also in upper case).
///
/// | `no_proxy`, `ExceptionsList` | exempts |
/// | --- | --- |
/// | `*` | every host |
/// | `example.com`, `.example.com`, `*.example.com` | the host and its subdomains |
/// | `127.0.0.1`, `::1`, `[::1]` | the address |
/// | `10.0.0.0/8`, `fd00::/8` | the addresses of the network |
/// | `example.com:8080` | the host at this port |
struct ProxyRules: Sendable, Hashable {
    /// A proxy, as libcurl takes it.
    struct Proxy: Sendable, Hashable {
        /// Scheme, host and port: `http://proxy.test:3128`.
        var url: String
        var user: String?
        var password: String?
        /// The schemes that libcurl may use: `CURLAUTH_…`. With several, libcurl first sends a request without credentials.
        var schemes = AuthenticationScheme.curlBasic | AuthenticationScheme.curlDigest
        /// Whether the credential answers a challenge of the proxy.
        private(set) var answersChallenge = false

        /// The credential that the configuration has for the proxy.
        var credential: AuthenticationFlow.Credential? {
            user.map { .init(user: $0, password: password ?? "") }
        }

        /// The same proxy with a credential that answers its challenge.
        func with(_ credential: AuthenticationFlow.Credential, schemes: Int) -> Self {
            var proxy = self
            (proxy.user, proxy.password, proxy.schemes) = (credential.user, credential.password, schemes)
            proxy.answersChallenge = true
            return proxy
        }
    }

    private var http: Proxy?
    private var https: Proxy?
    private var exceptions: [ProxyException] = []
    private var exemptsSimpleNames = false

    init(dictionary: [AnyHashable: Any]?, environment: [String: String]) {
        if let dictionary { self.init(dictionary) } else { self.init(environment: environment) }
    }

    private init(environment: [String: String]) {
        func value(_ names: String...) -> String? { names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty } }
        let all = value("all_proxy", "ALL_PROXY")
        http = (value("http_proxy") ?? all).flatMap { Proxy($0) }
        https = (value("https_proxy", "HTTPS_PROXY") ?? all).flatMap { Proxy($0) }
        let list = value("no_proxy", "NO_PROXY") ?? ""
        exceptions = list.split { $0 == "," || $0.isWhitespace }.map { ProxyException(String($0)) }
    }

    /// The keys are those of CFNetwork.
    private init(_ dictionary: [AnyHashable: Any]) {
        func isOn(_ key: String) -> Bool { (dictionary[key] as? NSNumber)?.boolValue ?? (dictionary[key] as? Int == 1) }
        func proxy(prefix: String, scheme: String) -> Proxy? {
            guard isOn(prefix + "Enable"), let host = dictionary[prefix + "Proxy"] as? String else { return nil }
            let port = (dictionary[prefix + "Port"] as? NSNumber)?.intValue ?? dictionary[prefix + "Port"] as? Int
            var proxy = Proxy(scheme: scheme, host: host, port: port)
            proxy?.user = dictionary["kCFProxyUsernameKey"] as? String
            proxy?.password = dictionary["kCFProxyPasswordKey"] as? String
            return proxy
        }
        let socks = proxy(prefix: "SOCKS", scheme: "socks5h")
        http = proxy(prefix: "HTTP", scheme: "http") ?? socks
        https = proxy(prefix: "HTTPS", scheme: "http") ?? socks
        exceptions = (dictionary["ExceptionsList"] as? [String] ?? []).map(ProxyException.init)
        exemptsSimpleNames = isOn("ExcludeSimpleHostnames")
    }

    /// The proxy for a URL; nil for a direct connection.
    func proxy(for url: URL) -> Proxy? {
        guard http != nil || https != nil else { return nil }
        let isSecure = url.scheme?.lowercased() == "https"
        guard let proxy = isSecure ? https : http, let host = url.host(percentEncoded: true)?.lowercased() else {
            return nil
        }
        if exemptsSimpleNames, !host.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }) {
            return nil
        }
        let port = url.port ?? (isSecure ? 443 : 80)
        return exceptions.contains { $0.matches(host: host, port: port) } ? nil : proxy
    }
}

extension ProxyRules.Proxy {
    /// Reads `[scheme://][user:password@]host[:port][/]`. Nil if libcurl does not support the scheme, or the host is invalid.
    init?(_ text: String) {
        let (scheme, rest) =
            text.range(of: "://").map {
                (text[..<$0.lowerBound].lowercased(), text[$0.upperBound...])
            } ?? ("http", text[...])
        guard ["http", "https", "socks4", "socks4a", "socks5", "socks5h"].contains(scheme) else { return nil }
        let authority = rest.prefix { $0 != "/" }
        let at = authority.lastIndex(of: "@")
        let address = at.map { authority[authority.index(after: $0)...] } ?? authority
        guard !address.isEmpty, address.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else { return nil }
        url = "\(scheme)://\(address)"
        guard let at else { return }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        user = parts[0].removingPercentEncoding
        password = parts.count > 1 ? parts[1].removingPercentEncoding : nil
    }

    init?(scheme: String, host: String, port: Int?) {
        let isBare = host.contains(":") && !host.hasPrefix("[")
        self.init("\(scheme)://" + (isBare ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? ""))
    }
}

extension AuthenticationScheme {
    /// The proxy's protection space for this scheme.
    func space(of proxy: ProxyRules.Proxy) -> URLProtectionSpace {
        let url = URL(string: proxy.url)
        return URLProtectionSpace(
            proxyHost: url?.host ?? "", port: url?.port ?? 1080, type: url?.scheme, realm: realm.isEmpty ? nil : realm,
            authenticationMethod: methodName)
    }
}
