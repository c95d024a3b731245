/// Removes the framing of the chunked transfer coding (RFC 9112 §7.1), incrementally. Pure.
///
/// libcurl needs the framing, too, to find the end of a body. But it ignores whatever follows the digits of a size. It would take
/// `0x9` for the last chunk, and so a body that is cut short for a complete one. So libcurl passes the framing on, and this decoder
/// accepts only this:
///
/// | part | treatment |
/// | --- | --- |
/// | a size of 1 to 16 hexadecimal digits, up to 2^63 - 1 | legal |
/// | spaces and tabs after a size | ignored |
/// | an extension, from a semicolon to the line end | ignored |
/// | LF without CR | a line end |
/// | a line after the last chunk | a trailer line, for `HeadParser` |
/// | anything else | error |
/// | framing of more than 256 KB in excess of 16 bytes for each chunk and 64 times its content | error |
struct ChunkDecoder: Sendable {
    /// What the received bytes are.
    enum Part {
        case content(UnsafeRawBufferPointer)
        /// A line after the last chunk, with its line end. The last one is empty.
        case trailerLine([UInt8])
    }

    /// The framing is malformed.
    struct Malformed: Error {}

    private enum Place {
        case size
        case afterSize
        case chunkExtension
        /// A CR has ended a line with a size.
        case lineFeedOfSize
        case content
        case afterContent
        /// A CR has ended the content of a chunk.
        case lineFeedOfContent
        case trailers
        case end
    }

    static let maximumExcess = 256 << 10
    private static let maximumDigits = 16

    private var place = Place.size
    private var digits = 0
    /// The size of the chunk, and then the bytes that are missing from it.
    private var size: UInt64 = 0
    private var excess = 0
    private var line: [UInt8] = []

    /// Whether the last chunk and the trailers have ended. Bytes after them do not belong to the body.
    var hasEnded: Bool { place == .end }
    /// Whether bytes have been taken.
    private(set) var hasBegun = false

    /// Takes the next part from the front of the received bytes; nil if there is none.
    mutating func next(_ bytes: inout Slice<UnsafeRawBufferPointer>) throws(Malformed) -> Part? {
        while !hasEnded, let byte = bytes.first {
            hasBegun = true
            if place == .content { return .content(takeContent(&bytes)) }
            bytes = bytes.dropFirst()
            if place == .trailers {
                if let line = try takeTrailer(byte) { return .trailerLine(line) }
            } else {
                try take(byte)
            }
        }
        return nil
    }

    private mutating func takeContent(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> UnsafeRawBufferPointer {
        let count = Int(min(size, UInt64(bytes.count)))
        defer { bytes = bytes.dropFirst(count) }
        size -= UInt64(count)
        if size == 0 { place = .afterContent }
        return UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
    }

    private mutating func takeTrailer(_ byte: UInt8) throws(Malformed) -> [UInt8]? {
        line.append(byte)
        guard line.count <= Self.maximumExcess else { throw Malformed() }
        guard byte == UInt8(ascii: "\n") else { return nil }
        defer { line = [] }
        if line.count == 1 || line.count == 2 && line[0] == UInt8(ascii: "\r") { place = .end }
        return line
    }

    private mutating func take(_ byte: UInt8) throws(Malformed) {
        excess += 1
        guard excess <= Self.maximumExcess else { throw Malformed() }
        switch (place, byte) {
        case (.size, UInt8(ascii: "0")...UInt8(ascii: "9")): try add(byte - UInt8(ascii: "0"))
        case (.size, UInt8(ascii: "A")...UInt8(ascii: "F")): try add(byte - UInt8(ascii: "A") + 10)
        case (.size, UInt8(ascii: "a")...UInt8(ascii: "f")): try add(byte - UInt8(ascii: "a") + 10)
        case (.size, _) where digits == 0: throw Malformed()
        case (.size, UInt8(ascii: " ")), (.size, UInt8(ascii: "\t")): place = .afterSize
        case (.afterSize, UInt8(ascii: " ")), (.afterSize, UInt8(ascii: "\t")): break
        case (.size, UInt8(ascii: ";")), (.afterSize, UInt8(ascii: ";")): place = .chunkExtension
        case (.size, UInt8(ascii: "\r")), (.afterSize, UInt8(ascii: "\r")): place = .lineFeedOfSize
        case (.size, UInt8(ascii: "\n")), (.afterSize, UInt8(ascii: "\n")), (.chunkExtension, UInt8(ascii: "\n")),
            (.lineFeedOfSize, UInt8(ascii: "\n")):
            beginContent()
        case (.chunkExtension, _): break
        case (.afterContent, UInt8(ascii: "\r")): place = .lineFeedOfContent
        case (.afterContent, UInt8(ascii: "\n")), (.lineFeedOfContent, UInt8(ascii: "\n")):
            (place, digits) = (.size, 0)
        default: throw Malformed()
        }
    }

    private mutating func add(_ digit: UInt8) throws(Malformed) {
        digits += 1
        size = size << 4 | UInt64(digit)
        guard digits <= Self.maximumDigits, size <= UInt64(Int64.max) else { throw Malformed() }
    }

    private mutating func beginContent() {
        excess = max(0, excess - 16 - 64 * Int(min(size, UInt64(Self.maximumExcess))))
        place = size == 0 ? .trailers : .content
    }
}
