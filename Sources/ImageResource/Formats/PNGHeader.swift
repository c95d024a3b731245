/// W3C PNG §11.2.1: `IHDR` is the first chunk. An orientation may follow in `eXIf`, before the pixels.
enum PNGHeader {
    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard bytes.has("IHDR", at: 12), let width = bytes.big32(16), let height = bytes.big32(20) else { return nil }
        guard width <= 0x7FFF_FFFF, height <= 0x7FFF_FFFF else { return nil }
        return HeaderFacts(width: width, height: height, orientation: orientation(bytes))
    }

    private static func orientation(_ bytes: ByteReader) -> ImageOrientation {
        var offset = 8
        for _ in 0..<64 {
            guard let length = bytes.big32(offset), length <= 0x7FFF_FFFF, !bytes.has("IDAT", at: offset + 4) else {
                break
            }
            if bytes.has("eXIf", at: offset + 4) {
                return bytes.part(from: offset + 8, count: length).flatMap(Exif.orientation) ?? .up
            }
            offset += 12 + length
        }
        return .up
    }
}
