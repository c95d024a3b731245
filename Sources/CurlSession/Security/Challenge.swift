/// A challenge of a server or proxy (RFC 9110 §11.6.1): a scheme and its parameters.
struct Challenge: Sendable, Hashable {
    /// In lower case.
    var scheme: String
    /// By name, in lower case. If a name is repeated, its first value counts.
    var parameters: [String: String] = [:]

    /// Reads the values of `WWW-Authenticate` or `Proxy-Authenticate` lines. Each may hold several challenges.
    static func parse(_ values: [String]) -> [Challenge] {
        values.flatMap { value in
            var reader = ChallengeReader(rest: Array(value.utf8)[...])
            return reader.challenges()
        }
    }
}

/// Reads one line. It never fails: it skips what it does not understand.
private struct ChallengeReader {
    var rest: ArraySlice<UInt8>

    mutating func challenges() -> [Challenge] {
        var found: [Challenge] = []
        var isAfterComma = true
        while let next = rest.first {
            if next == UInt8(ascii: ",") || Self.isBlank(next) {
                if next == UInt8(ascii: ",") { isAfterComma = true }
                rest.removeFirst()
                continue
            }
            let name = String(decoding: takePrefix(while: Self.isToken), as: UTF8.self).lowercased()
            takeBlanks()
            if name.isEmpty {
                skipToComma()
            } else if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                takeBlanks()
                guard let value = takeValue() else { continue }
                if let last = found.indices.last, found[last].parameters[name] == nil {
                    found[last].parameters[name] = value
                }
            } else if isAfterComma {
                found.append(Challenge(scheme: name))
            } else {
                skipToComma()  // a token68, such as that of Negotiate
            }
            isAfterComma = false
        }
        return found
    }

    /// A token or a quoted string; nil for the padding of a token68 (RFC 9110 §11.2), such as that of Negotiate.
    private mutating func takeValue() -> String? {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = takePrefix(while: Self.isToken)
            guard !token.isEmpty else {
                skipToComma()
                return nil
            }
            return String(decoding: token, as: UTF8.self)
        }
        rest.removeFirst()
        var text: [UInt8] = []
        while let next = rest.popFirst(), next != UInt8(ascii: "\"") {
            if next == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                text.append(escaped)
            } else {
                text.append(next)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func takePrefix(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let prefix = rest.prefix(while: condition)
        rest = rest.dropFirst(prefix.count)
        return prefix
    }

    private mutating func takeBlanks() { rest = rest.drop(while: Self.isBlank) }

    private mutating func skipToComma() { rest = rest.drop { $0 != UInt8(ascii: ",") } }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isToken(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
}
