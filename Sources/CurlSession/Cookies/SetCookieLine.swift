import Foundation

/// The value of a `Set-Cookie` line, parsed as RFC 6265bis §5.6 says.
struct SetCookieLine: Sendable, Hashable {
    /// The maximum number of bytes of name and value together.
    static let maximumBytes = 4096
    /// The maximum number of bytes of an attribute's value. Longer attributes are ignored.
    static let maximumAttributeBytes = 1024
    /// The maximum lifetime: 400 days.
    static let maximumLifetime: TimeInterval = 400 * 86_400

    var name: String
    var value: String
    var domain = ""
    /// The `Path` attribute; nil without one.
    var path: String?
    var isSecure = false
    var isHTTPOnly = false
    private var maximumAge: Int?
    private var expires: Date?

    /// Returns nil if the line sets no cookie.
    init?(_ line: String) {
        guard !line.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
        var parts = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let pair = parts.popFirst() else { return nil }
        let (name, value) = Self.pair(pair)
        self.name = value == nil ? "" : name
        self.value = value ?? name
        guard !(self.name.isEmpty && self.value.isEmpty) else { return nil }
        guard self.name.utf8.count + self.value.utf8.count <= Self.maximumBytes else { return nil }
        for part in parts { takeAttribute(part) }
    }

    /// When the cookie expires: `Max-Age` takes precedence over `Expires`. Nil for a session cookie.
    func expires(at now: Date) -> Date? {
        if let maximumAge {
            return maximumAge <= 0 ? .distantPast : now + min(Double(maximumAge), Self.maximumLifetime)
        }
        return expires.map { min($0, now + Self.maximumLifetime) }
    }

    private mutating func takeAttribute(_ part: Substring.UTF8View) {
        let (name, found) = Self.pair(part)
        let value = found ?? ""
        guard value.utf8.count <= Self.maximumAttributeBytes else { return }
        switch name.lowercased() {
        case "expires": if let date = CookieDate.parse(value) { expires = date }
        case "max-age": if let age = Self.age(value) { maximumAge = age }
        case "domain": domain = (value.utf8.first == UInt8(ascii: ".") ? String(value.dropFirst()) : value).lowercased()
        case "path": path = value
        case "secure": isSecure = true
        case "httponly": isHTTPOnly = true
        default: break
        }
    }

    /// A number of seconds; nil if the text is not a number. A number beyond the range of `Int` becomes the limit of that range.
    private static func age(_ text: String) -> Int? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        guard !digits.isEmpty, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text) ?? (digits.count == text.utf8.count ? .max : .min)
    }

    /// The texts before and after the first "=", without surrounding whitespace. Without "=", the second one is nil.
    private static func pair(_ part: Substring.UTF8View) -> (String, String?) {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(part), nil) }
        return (trimmed(part[..<equals]), trimmed(part[part.index(after: equals)...]))
    }

    private static func trimmed(_ part: Substring.UTF8View) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let rest = part.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(Substring(rest[...last]))
    }
}

extension Cookie {
    /// The cookie that a line sets, if the host may set it: RFC 6265bis §5.7.
    init?(_ line: SetCookieLine, from target: CookieTarget, at now: Date) {
        var isHostOnly = line.domain.isEmpty || line.domain == target.host && CookieTarget.isAddress(target.host)
        if !isHostOnly {
            guard CookieTarget.domain(line.domain, covers: target.host) else { return nil }
            if PublicSuffixes.contain(line.domain) {
                guard line.domain == target.host else { return nil }
                isHostOnly = true
            }
        }
        guard !line.isSecure || target.isSecure else { return nil }
        let path = line.path?.utf8.first == UInt8(ascii: "/") ? line.path ?? "/" : target.defaultPath
        self.init(
            name: line.name, value: line.value, domain: isHostOnly ? target.host : line.domain, isHostOnly: isHostOnly,
            path: path, isSecure: line.isSecure, isHTTPOnly: line.isHTTPOnly, expires: line.expires(at: now))
        guard keepsPromise(of: name.isEmpty ? value : name, in: line) else { return nil }
    }

    /// Whether the cookie meets the conditions of the prefixes `__Secure-` and `__Host-`. If a cookie has no name, its value must
    /// not begin with such a prefix.
    private func keepsPromise(of name: String, in line: SetCookieLine) -> Bool {
        let start = name.prefix(16).lowercased()
        if start.hasPrefix("__secure-") { return isSecure && !self.name.isEmpty }
        guard start.hasPrefix("__host-") else { return true }
        return isSecure && line.domain.isEmpty && line.path == "/" && !self.name.isEmpty
    }
}
