/// Finds the orientation in Exif, which is a TIFF file without pictures (TIFF 6.0 §2; CIPA DC-008 §4.6).
enum Exif {
    /// The orientation in an Exif block. JPEG requires `Exif\0\0` before the TIFF header. Most writers of WebP and some of
    /// PNG add it too, although their formats do not require it.
    static func orientation(_ block: ByteReader) -> ImageOrientation? {
        guard let bytes = block.part(from: block.has("Exif\0\0", at: 0) ? 6 : 0, count: .max) else { return nil }
        let isLittle = bytes.has("II", at: 0)
        guard isLittle || bytes.has("MM", at: 0) else { return nil }
        let read16 = isLittle ? bytes.little16 : bytes.big16
        let read32 = isLittle ? bytes.little32 : bytes.big32
        guard read16(2) == 42, let directory = read32(4), let count = read16(directory) else { return nil }
        for index in 0..<min(count, HeaderLimit.parts) {
            let entry = directory + 2 + index * 12
            guard let tag = read16(entry) else { return nil }
            // The value field has four bytes. A value of type SHORT is in the first two.
            if tag == 0x0112 { return read16(entry + 8).flatMap(ImageOrientation.init) }
        }
        return nil
    }
}
