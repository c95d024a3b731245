/// The header of WebP (RFC 9649 §2.5–2.7): the canvas of the extended format, or the frame of the simple formats.
enum WebPHeader {
    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        if bytes.has("VP8X", at: 12) { return extended(bytes) }
        if bytes.has("VP8L", at: 12) { return lossless(bytes) }
        if bytes.has("VP8 ", at: 12) { return lossy(bytes) }
        return nil
    }

    /// Whether any pixel may be transparent, according to the flag in the header or in the lossless bitstream.
    static func hasAlpha(_ bytes: ByteReader) -> Bool {
        if bytes.has("VP8X", at: 12), let flags = bytes.byte(20), flags & 0x10 != 0 { return true }
        guard let picture = picture(bytes), picture.name == "VP8L" else { return false }
        return picture.content.byte(4).map { $0 & 0x10 != 0 } ?? false
    }

    /// Whether a picture may have alpha that the header denies. Browsers ignore it, but libwebp decodes it. In a lossless picture,
    /// only the pixels tell.
    static func mayDenyAlpha(_ bytes: ByteReader) -> Bool {
        guard !hasAlpha(bytes), let picture = picture(bytes) else { return false }
        if picture.name == "VP8L" { return true }
        return bytes.has("VP8X", at: 12)
            && RIFFChunks(bytes).prefix(HeaderLimit.parts).contains {
                $0.name == "ALPH" && $0.range.upperBound <= picture.range.lowerBound
            }
    }

    /// The chunk of a still picture.
    private static func picture(_ bytes: ByteReader) -> RIFFChunks.Chunk? {
        RIFFChunks(bytes).prefix(HeaderLimit.parts).first { $0.name == "VP8 " || $0.name == "VP8L" }
    }

    /// The colour profile (RFC 9649 §2.7.1.4), which precedes the pixels.
    static func profile(_ bytes: ByteReader) -> ByteReader? {
        guard bytes.has("VP8X", at: 12), let flags = bytes.byte(20), flags & 0x20 != 0 else { return nil }
        return RIFFChunks(bytes).prefix(HeaderLimit.parts).first { $0.name == "ICCP" }?.content
    }

    /// Whether an orientation may follow the pixels.
    static func hasExif(_ bytes: ByteReader) -> Bool {
        bytes.has("VP8X", at: 12) && bytes.byte(20).map { $0 & 0x08 != 0 } ?? false
    }

    /// Whether bytes are missing at the end. The padding byte of the last chunk may be missing.
    static func isTruncated(_ bytes: ByteReader) -> Bool {
        bytes.little32(4).map { $0 > bytes.count - 7 } ?? true
    }

    static func isAnimated(_ bytes: ByteReader) -> Bool {
        bytes.has("VP8X", at: 12) && bytes.byte(20).map { $0 & 0x02 != 0 } ?? false
    }

    /// Whether any part may be lossless, which takes more memory. Frames of animations are not examined.
    static func isLossless(_ bytes: ByteReader) -> Bool {
        guard bytes.has("VP8X", at: 12) else { return bytes.has("VP8L", at: 12) }
        var chunks = RIFFChunks(bytes)
        for _ in 0..<HeaderLimit.parts {
            guard let chunk = chunks.next() else { return false }
            if chunk.name == "VP8L" || chunk.name == "ANMF" { return true }
        }
        return true
    }

    private static func extended(_ bytes: ByteReader) -> HeaderFacts? {
        guard let width = bytes.little24(24), let height = bytes.little24(27) else { return nil }
        return HeaderFacts(width: width + 1, height: height + 1, orientation: orientation(bytes) ?? .up)
    }

    /// Exif is a chunk of its own after the pixels (RFC 9649 §2.7.1.5).
    private static func orientation(_ bytes: ByteReader) -> ImageOrientation? {
        guard hasExif(bytes) else { return nil }
        return RIFFChunks(bytes).prefix(HeaderLimit.parts).first { $0.name == "EXIF" }.flatMap {
            Exif.orientation($0.content)
        }
    }

    /// The signature, then 14 bits each for width - 1 and height - 1 (RFC 9649 §3.4).
    private static func lossless(_ bytes: ByteReader) -> HeaderFacts? {
        guard bytes.byte(20) == 0x2F, let bits = bytes.littleWord(21) else { return nil }
        return HeaderFacts(width: Int(bits & 0x3FFF) + 1, height: Int(bits >> 14 & 0x3FFF) + 1)
    }

    /// The start code of a key frame, then 14 bits each for width and height, each with 2 bits of scale (RFC 6386 §9.1).
    private static func lossy(_ bytes: ByteReader) -> HeaderFacts? {
        guard bytes.little24(23) == 0x2A019D, let width = bytes.little16(26), let height = bytes.little16(28) else {
            return nil
        }
        return HeaderFacts(width: width & 0x3FFF, height: height & 0x3FFF)
    }
}

/// Iterates over the chunks of a RIFF file (RFC 9649 §2.3).
struct RIFFChunks: Sequence, IteratorProtocol {
    struct Chunk {
        let name: String
        let content: ByteReader
        /// The range of the content.
        let range: Range<Int>
    }

    private let bytes: ByteReader
    private var offset: Int

    /// The chunks of a whole file, or those inside another chunk from `offset` on.
    init(_ bytes: ByteReader, from offset: Int = 12) {
        self.bytes = bytes
        self.offset = offset
    }

    mutating func next() -> Chunk? {
        guard let name = bytes.part(from: offset, count: 4), name.count == 4 else { return nil }
        guard let length = bytes.little32(offset + 4) else { return nil }
        guard let content = bytes.part(from: offset + 8, count: length) else { return nil }
        let range = offset + 8..<offset + 8 + content.count
        // The sum may overflow if the chunk is cut short, and then it is the last one.
        offset = content.count < length ? bytes.count : offset + 8 + length + length & 1
        return Chunk(name: String(decoding: name.bytes, as: UTF8.self), content: content, range: range)
    }
}
