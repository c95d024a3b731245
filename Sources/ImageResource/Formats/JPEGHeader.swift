/// Walks the marker segments of a JPEG (ITU-T T.81 annex B) up to its frame header.
enum JPEGHeader {
    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        var orientation = ImageOrientation.up
        var size: (width: Int, height: Int)?
        walk(bytes) { marker, segment in
            if marker == 0xE1, let found = exif(segment) { orientation = found }
            guard isFrame(marker), let height = segment.big16(1), let width = segment.big16(3) else { return true }
            size = (width, height)
            return false
        }
        return size.map { HeaderFacts(width: $0.width, height: $0.height, orientation: orientation) }
    }

    /// Calls `visit` with each segment before the first scan, until it returns false.
    static func walk(_ bytes: ByteReader, _ visit: (_ marker: UInt8, _ segment: ByteReader) -> Bool) {
        var offset = 2
        while let lead = bytes.byte(offset), let marker = bytes.byte(offset + 1) {
            if lead != 0xFF || marker == 0xFF {
                offset += 1  // Fill bytes, or something foreign between segments, which decoders pass over too.
            } else if marker == 0x00 || marker == 0x01 || (0xD0...0xD8).contains(marker) {
                offset += 2
            } else if marker == 0xD9 || marker == 0xDA {
                return
            } else {
                guard let length = bytes.big16(offset + 2), length >= 2 else { return }
                guard let segment = bytes.part(from: offset + 4, count: length - 2) else { return }
                guard visit(marker, segment) else { return }
                offset += 2 + length
            }
        }
    }

    /// SOF0 to SOF15, without DHT, JPG and DAC, which lie among them.
    private static func isFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
    }

    private static func exif(_ segment: ByteReader) -> ImageOrientation? {
        guard segment.has("Exif\0\0", at: 0) else { return nil }
        return segment.part(from: 6, count: .max).flatMap(Exif.orientation)
    }
}
