/// The first line of a head (RFC 9112 §4): `HTTP/1.1 200 OK`, `HTTP/2 200`. The reason is not kept.
struct StatusLine: Sendable, Hashable {
    /// The version, such as `HTTP/1.1` or `HTTP/2`.
    var version: String
    /// The status code: 100 to 999.
    var status: Int
}

extension StatusLine {
    /// Reads a line without its end.
    init(_ line: UnsafeRawBufferPointer) throws(HeadError) {
        var rest = line[...]
        for letter in "http/".utf8 {
            guard let byte = rest.popFirst(), byte | 0x20 == letter | 0x20 else { throw .malformedStatusLine }
        }
        guard let version = Self.version(&rest), Self.isBlank(rest.popFirst()) else { throw .malformedStatusLine }
        while Self.isBlank(rest.first) { rest.removeFirst() }
        let digits = rest.prefix(while: Self.isDigit)
        let status = digits.prefix(4).reduce(0) { $0 * 10 + Int($1) - 48 }
        guard digits.count == 3, status >= 100 else { throw .malformedStatusLine }
        guard status != 101 else { throw .unexpectedUpgrade }
        self.init(version: version, status: status)
    }

    private static func version(_ rest: inout Slice<UnsafeRawBufferPointer>) -> String? {
        switch rest.popFirst() {
        case UInt8(ascii: "1"):
            guard rest.popFirst() == UInt8(ascii: "."), let minor = rest.popFirst(), isDigit(minor) else { return nil }
            return minor == UInt8(ascii: "0") ? "HTTP/1.0" : "HTTP/1.1"
        case UInt8(ascii: "2"): return "HTTP/2"
        case UInt8(ascii: "3"): return "HTTP/3"
        default: return nil
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func isBlank(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
