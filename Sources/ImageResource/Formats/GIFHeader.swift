/// GIF89a §18: the logical screen.
enum GIFHeader {
    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        guard let width = bytes.little16(6), let height = bytes.little16(8) else { return nil }
        return HeaderFacts(width: width, height: height)
    }
}
