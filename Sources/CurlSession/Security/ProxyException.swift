import Foundation

/// An entry of `no_proxy`: see `ProxyRules`.
enum ProxyException: Sendable, Hashable {
    case everything
    case host(String, port: Int?)
    /// An address or network: its bytes, and how many bits of them count.
    case network([UInt8], bits: Int)
    case nothing

    init(_ text: String) {
        let text = text.trimmingCharacters(in: .whitespaces).lowercased()
        if text == "*" {
            self = .everything
        } else if let network = Self.network(text) {
            self = network
        } else {
            self = Self.host(text)
        }
    }

    func matches(host: String, port: Int) -> Bool {
        switch self {
        case .everything: return true
        case .nothing: return false
        case .host(let name, let own):
            guard own == nil || own == port else { return false }
            return host == name || host.hasSuffix("." + name)
        case .network(let network, let bits):
            guard let address = Self.address(host), address.count == network.count else { return false }
            return zip(0..., zip(address, network)).allSatisfy { index, bytes in
                let kept = min(8, max(0, bits - index * 8))
                return (bytes.0 ^ bytes.1) >> UInt8(8 - kept) == 0
            }
        }
    }

    private static func network(_ text: String) -> ProxyException? {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard let first = parts.first, let address = address(String(first)) else { return nil }
        guard parts.count == 2 else { return .network(address, bits: address.count * 8) }
        guard let bits = Int(parts[1]), (0...address.count * 8).contains(bits) else { return .nothing }
        return .network(address, bits: bits)
    }

    private static func host(_ text: String) -> ProxyException {
        var name = text[...]
        var port: Int?
        if let colon = name.lastIndex(of: ":") {
            port = Int(name[name.index(after: colon)...])
            name = name[..<colon]
        }
        if name.hasPrefix("*") { name = name.dropFirst() }
        if name.hasPrefix(".") { name = name.dropFirst() }
        return name.isEmpty ? .nothing : .host(String(name), port: port)
    }

    /// The bytes of an IPv4 or IPv6 address, which may be in brackets.
    private static func address(_ text: String) -> [UInt8]? {
        let text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
