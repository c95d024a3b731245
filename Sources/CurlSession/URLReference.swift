import Foundation

/// Reads URLs, and resolves the targets of redirects (RFC 3986 §5), without Foundation, which resolves some of them wrongly. Pure.
enum URLReference {
    /// Resolves `reference` against `base`. Nil if the reference is not a valid URL, or if it is empty, because a redirect to the
    /// same URL is useless.
    ///
    /// As browsers do, the method treats a backslash before the query as a slash, ignores line breaks and tabs, and
    /// percent-encodes what a URL may not contain. A target without a fragment gets that of `base` (RFC 9110 §10.2.2).
    static func resolve(_ reference: String, against base: URL) -> URL? {
        let reference = cleaned(reference)
        guard !reference.isEmpty else { return nil }
        let target = Parts(reference)
        let base = Parts(base.absoluteString)
        var result = target
        if let scheme = target.scheme {
            guard isWeb(scheme) else { return URL(string: target.text) }
            guard target.authority != nil else { return nil }
        } else {
            result.scheme = base.scheme
            if target.authority == nil {
                result.authority = base.authority
                result.path = path(of: target, against: base)
                if target.path.isEmpty, target.query == nil { result.query = base.query }
            }
        }
        guard isWeb(result.scheme ?? ""), let authority = validated(result.authority ?? "") else { return nil }
        result.authority = authority
        result.path = DotSegments.removed(from: result.path.isEmpty ? "/" : result.path)
        if result.fragment == nil { result.fragment = base.fragment }
        return URL(string: result.text)
    }

    private static func isWeb(_ scheme: String) -> Bool { ["http", "https"].contains(scheme.lowercased()) }

    private static func path(of target: Parts, against base: Parts) -> String {
        if target.path.isEmpty { return base.path }
        if target.path.hasPrefix("/") { return target.path }
        let directory = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
        return directory + target.path
    }

    /// An absolute URL as it is requested: without dot segments.
    static func target(of url: String) -> String {
        guard DotSegments.mayBe(in: url) else { return url }
        var parts = Parts(url)
        parts.path = DotSegments.removed(from: parts.path)
        return parts.text
    }

    /// The origin of an http or https URL (RFC 6454 §4): scheme, host and port, in small letters, without the default port. Nil for
    /// other schemes, empty without a host.
    static func origin(of url: String) -> String? {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = url[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = bytes[colon...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return "" }
        let afterSlashes = rest.dropFirst(2)
        let end = afterSlashes.firstIndex {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        var authority = afterSlashes[..<(end ?? afterSlashes.endIndex)]
        if let user = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[user...].dropFirst() }
        let port = (scheme == "https" ? ":443" : ":80").utf8
        if authority.suffix(port.count).elementsEqual(port) { authority = authority.dropLast(port.count) }
        guard !authority.isEmpty else { return "" }
        let hasCapitals = authority.contains { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        let host = Substring(authority)
        return scheme + "://" + (hasCapitals ? host.lowercased() : String(host))
    }

    /// The reference without line breaks and tabs, and with the characters that a URL may not contain percent-encoded.
    private static func cleaned(_ reference: String) -> String {
        var result: [UInt8] = []
        var isInQuery = false
        for byte in reference.trimmingCharacters(in: .whitespacesAndNewlines).utf8 {
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isInQuery = true }
            switch byte {
            case 9, 10, 13: break
            case UInt8(ascii: "\\") where !isInQuery: result.append(UInt8(ascii: "/"))
            case 33...126 where !"\"<>\\^`{|}".utf8.contains(byte): result.append(byte)
            default: result += Array("%".utf8) + [hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// The authority with its host percent-decoded. Nil if the host or the port is invalid.
    private static func validated(_ authority: String) -> String? {
        let user = authority.lastIndex(of: "@").map { authority[...$0] } ?? ""
        let rest = authority[user.endIndex...]
        let end = rest.hasPrefix("[") ? rest.firstIndex(of: "]").map(rest.index(after:)) : rest.firstIndex(of: ":")
        guard !rest.hasPrefix("[") || end != nil else { return nil }
        let port = rest[(end ?? rest.endIndex)...]
        guard port.isEmpty || port.hasPrefix(":"), port.dropFirst().utf8.allSatisfy({ (48...57).contains($0) }),
            port.count <= 1 || UInt16(port.dropFirst()) != nil,
            let host = host(String(rest[..<(end ?? rest.endIndex)]))
        else { return nil }
        return user + host + (port.count > 1 ? port : "")
    }

    private static func host(_ text: String) -> String? {
        if text.hasPrefix("[") {
            return text.dropFirst().dropLast().utf8.allSatisfy { isHexDigit($0) || $0 == 58 || $0 == 46 } ? text : nil
        }
        guard !text.isEmpty, let name = text.removingPercentEncoding, !name.isEmpty else { return nil }
        let isName = name.utf8.allSatisfy { byte in
            byte > 127 || (48...57).contains(byte) || (97...122).contains(byte | 0x20) || "-._~".utf8.contains(byte)
        }
        return isName ? name : nil
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (97...102).contains(byte | 0x20)
    }

    /// The five parts of a reference (RFC 3986 §3). Missing parts are nil.
    private struct Parts {
        var scheme: String?
        var authority: String?
        var path: String
        var query: String?
        var fragment: String?

        init(_ text: String) {
            var rest = text[...]
            fragment = Self.cut(&rest, at: "#")
            query = Self.cut(&rest, at: "?")
            if let colon = rest.firstIndex(of: ":"), !rest[..<colon].contains("/"), rest.first?.isLetter == true {
                scheme = String(rest[..<colon])
                rest = rest[colon...].dropFirst()
            }
            if rest.hasPrefix("//") {
                rest = rest.dropFirst(2)
                let end = rest.firstIndex(of: "/") ?? rest.endIndex
                authority = String(rest[..<end])
                rest = rest[end...]
            }
            path = String(rest)
        }

        private static func cut(_ rest: inout Substring, at mark: Character) -> String? {
            guard let index = rest.firstIndex(of: mark) else { return nil }
            defer { rest = rest[..<index] }
            return String(rest[index...].dropFirst())
        }

        var text: String {
            (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path
                + (query.map { "?" + $0 } ?? "")
                + (fragment.map { "#" + $0 } ?? "")
        }
    }
}
