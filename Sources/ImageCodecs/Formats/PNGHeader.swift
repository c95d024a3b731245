/// The header of PNG: `IHDR` is the first chunk (W3C PNG §11.2.1). An `eXIf` chunk with the orientation may come before the
/// pixels.
enum PNGHeader {
    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard bytes.has("IHDR", at: 12), let width = bytes.big32(16), let height = bytes.big32(20) else { return nil }
        guard width <= 0x7FFF_FFFF, height <= 0x7FFF_FFFF else { return nil }
        return HeaderFacts(width: width, height: height, orientation: orientation(bytes))
    }

    private static func orientation(_ bytes: ByteReader) -> ImageOrientation {
        let block = PNGChunks(bytes).beforePixels.first { $0.has("eXIf") }
        return block.flatMap { Exif.orientation($0.content) } ?? .up
    }
}

/// Iterates over the chunks of a PNG (W3C PNG §5.3). Checksums are not verified.
struct PNGChunks: Sequence, IteratorProtocol {
    struct Chunk {
        fileprivate let header: ByteReader
        let content: ByteReader
        /// The ranges of the content and of the whole chunk.
        let range: Range<Int>
        let whole: Range<Int>

        func has(_ name: StaticString) -> Bool { header.has(name, at: 4) }
    }

    private let bytes: ByteReader
    private var offset = 8

    init(_ bytes: ByteReader) {
        self.bytes = bytes
    }

    /// The next chunk; nil if its content is not complete.
    mutating func next() -> Chunk? {
        guard let length = bytes.big32(offset), length <= 0x7FFF_FFFF, bytes.has(length, at: offset + 8),
            let header = bytes.part(from: offset, count: 8), let content = bytes.part(from: offset + 8, count: length)
        else { return nil }
        let range = offset + 8..<offset + 8 + length
        let whole = offset..<Swift.min(offset + 12 + length, bytes.count)
        offset += 12 + length
        return Chunk(header: header, content: content, range: range, whole: whole)
    }

    /// The chunks before the first chunk of pixels, at most `HeaderLimit.parts`.
    var beforePixels: some Sequence<Chunk> { prefix(HeaderLimit.parts).lazy.prefix { !$0.has("IDAT") } }
}
