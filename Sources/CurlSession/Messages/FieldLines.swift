import Glibc

/// Collects the field lines of a head or of trailers; `HeadParser` documents how malformed lines are treated.
struct FieldLines: Sendable {
    private var fields: [CurlResponseHead.Field] = []
    /// The name of the field whose value the next line may continue; empty if there is none.
    private var name = ""
    private var value: [UInt8] = []

    /// Takes a line without its end.
    mutating func append(_ line: UnsafeRawBufferPointer) throws(HeadError) {
        guard let start = line.baseAddress else { return }
        guard memchr(start, 0, line.count) == nil else { throw .forbiddenByte }
        guard let first = line.first, !Self.isBlank(first) else { return try fold(line) }
        endField()
        guard let colon = memchr(start, Int32(UInt8(ascii: ":")), line.count).map({ UnsafeRawPointer($0) - start })
        else {
            return
        }
        let bytes = Self.trimmed(line[..<colon])
        guard !bytes.isEmpty, bytes.allSatisfy(Self.isToken) else { return }
        name = String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
        guard bytes.count == colon || !isFraming else { throw .invalidBodyLength }
        value.append(contentsOf: line[(colon + 1)...])
    }

    /// Ends the head. Removes and returns its fields.
    mutating func take() -> [CurlResponseHead.Field] {
        endField()
        defer { fields = [] }
        return fields
    }

    private mutating func fold(_ line: UnsafeRawBufferPointer) throws(HeadError) {
        guard !name.isEmpty else { return }
        guard !isFraming else { throw .invalidBodyLength }
        while let last = value.last, Self.isBlank(last) { value.removeLast() }
        value.append(UInt8(ascii: " "))
        value.append(contentsOf: Self.trimmed(line[...]))
    }

    private mutating func endField() {
        guard !name.isEmpty else { return }
        fields.append(.init(name: name, value: Self.decoded(value)))
        name = ""
        value.removeAll(keepingCapacity: true)
    }

    /// Whether the line says where the body ends.
    private var isFraming: Bool { FieldName.isFraming(name) }

    private static func decoded(_ value: [UInt8]) -> String {
        value.withUnsafeBytes { bytes in
            let content = trimmed(bytes[...])
            guard content.contains(UInt8(ascii: "\r")) else {
                return text(UnsafeRawBufferPointer(rebasing: content))
            }
            return text(content.map { $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 })
        }
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String {
        // Nearly all values are ASCII. `decoding` reads contiguous bytes in place.
        if bytes.allSatisfy({ $0 < 128 }) { return String(decoding: bytes, as: UTF8.self) }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        let rest = bytes.drop(while: isBlank)
        guard let last = rest.lastIndex(where: { !isBlank($0) }) else { return rest.prefix(0) }
        return rest[...last]
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    /// A bit for each byte up to 127: set if the byte can be in a token, as letters, digits and some others can.
    private static let tokenBytes: [UInt64] = {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        var bits: [UInt64] = [0, 0]
        for byte in (letters + letters.uppercased() + "0123456789!#$%&'*+-.^_`|~").utf8 {
            bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
        }
        return bits
    }()

    /// A character of a token (RFC 9110 §5.6.2).
    static func isToken(_ byte: UInt8) -> Bool {
        byte < 128 && tokenBytes[Int(byte >> 6)] >> UInt64(byte & 63) & 1 == 1
    }
}
