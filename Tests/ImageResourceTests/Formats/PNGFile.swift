#if !canImport(ImageIO)
    import Foundation

    @testable import ImageCodecs

    /// Writes PNGs of 8 bits (W3C PNG §5), whatever it is told to.
    struct PNGFile {
        typealias Bytes = [UInt8]

        var size: PixelSize
        /// 0 is grey, 6 is RGBA.
        var colourType: UInt8 = 6
        var isInterlaced = false
        /// Whole chunks before the pixels.
        var chunks: Bytes = []
        /// The compressed pixels.
        var pixels: Bytes = []

        var data: Data {
            let header =
                HEIFFile.big32(size.width) + HEIFFile.big32(size.height) + [8, colourType, 0, 0, isInterlaced ? 1 : 0]
            let start: Bytes = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            return Data(
                start + Self.chunk("IHDR", header) + chunks + Self.chunk("IDAT", pixels) + Self.chunk("IEND", []))
        }

        static func chunk(_ name: String, _ content: Bytes) -> Bytes {
            let body = Bytes(name.utf8) + content
            return HEIFFile.big32(content.count) + body + HEIFFile.big32(checksum(body))
        }

        /// The checksum of a chunk (W3C PNG annex D).
        static func checksum(_ bytes: Bytes) -> Int {
            var sum: UInt32 = 0xFFFF_FFFF
            for byte in bytes {
                sum ^= UInt32(byte)
                for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
            }
            return Int(~sum)
        }

        /// The beginning of a zlib stream (RFC 1950 §2.2).
        static let streamStart: Bytes = [0x78, 0x01]

        /// A block of a zlib stream, not compressed (RFC 1951 §3.2.4).
        static func block(_ content: Bytes, isLast: Bool = false) -> Bytes {
            let length = UInt16(content.count)
            return [isLast ? 1 : 0] + [length, ~length].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } + content
        }
    }
#endif
