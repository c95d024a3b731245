/// The logical screen of a GIF, and its first frame, which may be larger (GIF89a §18, §20).
enum GIFHeader {
    /// The largest number of blocks, sub-blocks and padding bytes to visit before the first frame.
    private static let mostSteps = 16 * HeaderLimit.parts

    /// The size of the canvas: the screen, enlarged to hold the first frame as in browsers. If the bytes end before the
    /// first frame, it is the size of the screen.
    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard let width = bytes.little16(6), let height = bytes.little16(8) else { return nil }
        let frame = firstArea(bytes)
        return HeaderFacts(
            width: max(width, frame.map { $0.x + $0.size.width } ?? 0),
            height: max(height, frame.map { $0.y + $0.size.height } ?? 0))
    }

    /// The offset of the first block: after the header, the screen and the colour table that `flags` announce.
    static func firstBlock(_ flags: UInt8) -> Int {
        13 + (flags & 0x80 != 0 ? 3 * 2 << Int(flags & 7) : 0)
    }

    /// The area of the frame whose descriptor is at an offset.
    static func area(_ bytes: ByteReader, at offset: Int) -> PixelArea? {
        guard let x = bytes.little16(offset + 1), let y = bytes.little16(offset + 3),
            let width = bytes.little16(offset + 5), let height = bytes.little16(offset + 7)
        else { return nil }
        return PixelArea(x: x, y: y, size: PixelSize(width: width, height: height))
    }

    private static func firstArea(_ bytes: ByteReader) -> PixelArea? {
        guard var offset = bytes.byte(10).map(firstBlock) else { return nil }
        var steps = mostSteps
        while steps > 0, let mark = bytes.byte(offset) {
            steps -= 1
            switch mark {
            case 0x21:
                offset += 2
                while steps > 0, let length = bytes.byte(offset), length > 0 {
                    offset += 1 + Int(length)
                    steps -= 1
                }
                offset += 1
            case 0x2C: return area(bytes, at: offset)
            case 0x3B: return nil
            default: offset += 1
            }
        }
        return nil
    }
}
