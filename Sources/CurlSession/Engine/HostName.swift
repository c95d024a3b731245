import Foundation

/// A name whose addresses libcurl needs, and the port of the request.
struct HostName: Hashable, Sendable {
    let name: String
    let port: Int
}

extension Exchange {
    /// The names that have to be looked up before this request can be sent: that of the proxy, or else of the server. An address
    /// needs no lookup, and libcurl knows `localhost` itself.
    var namesToLookUp: [HostName] {
        guard let proxy else {
            return [HostName(authorityOf: target, defaultPort: isSecure ? 443 : 80)].compactMap { $0 }
        }
        var names = [HostName(authorityOf: proxy.url, defaultPort: proxy.url.hasPrefix("https:") ? 443 : 1080)]
        // With these schemes, libcurl sends the proxy an address. Other proxies get the name.
        if proxy.url.hasPrefix("socks4:") || proxy.url.hasPrefix("socks5:") {
            names.append(HostName(authorityOf: target, defaultPort: isSecure ? 443 : 80))
        }
        return names.compactMap { $0 }
    }
}

extension HostName {
    /// Reads the host and the port of a URL. Nil if there is nothing to look up.
    init?(authorityOf url: String, defaultPort: Int) {
        guard let start = url.range(of: "://")?.upperBound else { return nil }
        let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        var host = url[start..<end]
        if let at = host.lastIndex(of: "@") { host = host[host.index(after: at)...] }
        guard !host.hasPrefix("[") else { return nil }
        var port = defaultPort
        if let colon = host.lastIndex(of: ":") {
            port = Int(host[host.index(after: colon)...]) ?? defaultPort
            host = host[..<colon]
        }
        guard let name = Self.canonical(String(host)), !Self.needsNoLookup(name) else { return nil }
        self.init(name: name, port: port)
    }

    /// The name as libcurl has it in its cache: without escapes, in ASCII.
    static func canonical(_ host: String) -> String? {
        guard let plain = host.removingPercentEncoding?.lowercased(), !plain.isEmpty else { return nil }
        guard !plain.utf8.allSatisfy({ $0 < 128 }) else { return plain }
        return URL(string: "http://\(plain)/")?.host(percentEncoded: false)
    }

    private static func needsNoLookup(_ name: String) -> Bool {
        var address = in_addr()
        return name == "localhost" || name.hasSuffix(".localhost") || inet_pton(AF_INET, name, &address) == 1
    }

    /// An entry of `CURLOPT_RESOLVE`, which libcurl keeps as long as one of its own.
    func entry(_ addresses: [String]) -> String {
        let list = addresses.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 }
        return "+\(name):\(port):\(list.joined(separator: ","))"
    }
}
