/// The header of JPEG XL: a codestream, bare or in boxes (ISO/IEC 18181-1 annex D, 18181-2).
enum JPEGXLHeader {
    static func recognizes(_ bytes: ByteReader) -> Bool {
        bytes.big16(0) == 0xFF0A || isContainer(bytes)
    }

    private static func isContainer(_ bytes: ByteReader) -> Bool {
        bytes.big32(0) == 12 && bytes.has("JXL ", at: 4) && bytes.big32(8) == 0x0D0A_870A
    }

    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard let codestream = codestream(bytes), codestream.big16(0) == 0xFF0A else { return nil }
        var bits = LowBits(codestream, from: 2)
        guard let small = bits.read(1), let height = length(&bits, isSmall: small == 1), let ratio = bits.read(3) else {
            return nil
        }
        guard let width = ratio == 0 ? length(&bits, isSmall: small == 1) : width(of: height, ratio: ratio) else {
            return nil
        }
        return HeaderFacts(width: width, height: height, orientation: orientation(&bits) ?? .up)
    }

    private static func codestream(_ bytes: ByteReader) -> ByteReader? {
        guard isContainer(bytes) else { return bytes }
        for box in Boxes(bytes, from: 0) {
            if box.has("jxlc") { return box.content }
            if box.has("jxlp") { return box.content.part(from: 4, count: .max) }  // The part's index is first.
        }
        return nil
    }

    private static func length(_ bits: inout LowBits, isSmall small: Bool) -> Int? {
        if small { return bits.read(5).map { ($0 + 1) * 8 } }
        guard let selector = bits.read(2) else { return nil }
        return bits.read([9, 13, 18, 30][selector]).map { $0 + 1 }
    }

    private static func width(of height: Int, ratio: Int) -> Int? {
        let (part, whole) = [(1, 1), (1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)][ratio]
        return Int(exactly: Int64(height) * Int64(part) / Int64(whole))
    }

    /// The metadata begin with the flags `all_default` and `extra_fields`. The orientation follows only if they are 0 and 1.
    private static func orientation(_ bits: inout LowBits) -> ImageOrientation? {
        guard bits.read(1) == 0, bits.read(1) == 1 else { return nil }
        return bits.read(3).flatMap { ImageOrientation(rawValue: $0 + 1) }
    }
}

/// Reads bits, beginning with the lowest bit of each byte.
struct LowBits {
    private let bytes: ByteReader
    private var position: Int

    init(_ bytes: ByteReader, from offset: Int) {
        self.bytes = bytes
        position = offset * 8
    }

    /// The next bits, at most 32; nil past the end.
    mutating func read(_ count: Int) -> Int? {
        var value = 0
        for index in 0..<count {
            guard let byte = bytes.byte(position >> 3) else { return nil }
            value |= Int(byte >> (position & 7) & 1) << index
            position += 1
        }
        return value
    }
}
