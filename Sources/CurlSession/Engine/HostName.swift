import Foundation

/// A name whose addresses libcurl needs, and the port of the request.
struct HostName: Hashable, Sendable {
    let name: String
    let port: Int
}

extension HostName {
    /// Reads the host and the port of a URL. Nil if there is nothing to look up.
    init?(authorityOf url: String, defaultPort: Int) {
        guard let (range, end) = Self.host(in: url) else { return nil }
        let host = url[range]
        let port = range.upperBound < end ? Int(url[url.index(after: range.upperBound)..<end]) : nil
        guard !host.hasPrefix("["), let name = Self.canonical(String(host)), !Self.needsNoLookup(name) else {
            return nil
        }
        self.init(name: name, port: port ?? defaultPort)
    }

    /// The URL with a host in ASCII. Foundation does not convert percent-encoded letters, and libcurl converts no capital letters.
    static func withHostInASCII(_ url: String) -> String {
        guard url.utf8.contains(UInt8(ascii: "%")), let (range, _) = host(in: url),
            let plain = url[range].removingPercentEncoding, !plain.utf8.allSatisfy({ $0 < 128 }),
            let name = canonical(plain)
        else { return url }
        return url.replacingCharacters(in: range, with: name)
    }

    /// The range of a URL's host, and the end of its authority. If the host is an address in brackets, the range includes the port.
    private static func host(in url: String) -> (Range<String.Index>, authorityEnd: String.Index)? {
        guard var start = url.range(of: "://")?.upperBound else { return nil }
        let end = url[start...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        if let at = url[start..<end].lastIndex(of: "@") { start = url.index(after: at) }
        let colon = url[start..<end].lastIndex(of: ":")
        return (start..<(url[start..<end].hasPrefix("[") ? end : colon ?? end), end)
    }

    /// The name as libcurl's DNS cache has it: percent-decoded, in lower case and in ASCII.
    static func canonical(_ host: String) -> String? {
        guard let plain = host.removingPercentEncoding?.lowercased(), !plain.isEmpty else { return nil }
        guard !plain.utf8.allSatisfy({ $0 < 128 }) else { return plain }
        return URL(string: "http://\(plain)/")?.host(percentEncoded: false)
    }

    private static func needsNoLookup(_ name: String) -> Bool {
        var address = in_addr()
        return name == "localhost" || name.hasSuffix(".localhost") || inet_pton(AF_INET, name, &address) == 1
    }

    /// An entry for `CURLOPT_RESOLVE`. Because of the `+`, libcurl keeps it only as long as the result of a lookup of its own.
    func entry(_ addresses: [String]) -> String {
        let list = addresses.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 }
        return "+\(name):\(port):\(list.joined(separator: ","))"
    }
}
