/// One range of a `Range: bytes=…` (RFC 9110 §14.1.2), before the length of the representation is known.
package enum ByteRange: Hashable, Sendable {
    /// `bytes=2-` and `bytes=2-5`.
    case from(Int, through: Int?)
    /// `bytes=-5`.
    case last(Int)

    /// The only range of a `Range` field; nil for another unit, several ranges, or a malformed field.
    @inline(never)
    package init?(_ text: String) {
        let range = text.scan { scanner -> ByteRange? in
            scanner.skipWhitespace()
            guard scanner.take("bytes="), let range = Self.read(&scanner) else { return nil }
            scanner.skipWhitespace()
            return scanner.isAtEnd ? range : nil
        }
        guard let range else { return nil }
        self = range
    }

    private static func read(_ scanner: inout FieldScanner) -> ByteRange? {
        scanner.skipWhitespace()
        if scanner.take("-") { return scanner.number().map(ByteRange.last) }
        guard let first = scanner.number(), scanner.take("-") else { return nil }
        guard let digit = scanner.next, digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else {
            return .from(first, through: nil)
        }
        guard let last = scanner.number(), last >= first else { return nil }
        return .from(first, through: last)
    }

    /// The bytes that the range selects in a representation of that length; nil if it selects none (RFC 9110 §14.1.2).
    package func bytes(ofLength length: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<(min(last ?? length - 1, length - 1) + 1)
        case .last(let count):
            guard count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
    }
}
