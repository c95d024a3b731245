#if JXL && !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Channels of a JPEG XL file", .bounded)
    struct JPEGXLChannelsTests {
        @Test("a file with more of them than are reckoned with is refused at its header", arguments: [0, 1, 2, 3, 17])
        func extraChannels(_ count: Int) {
            let error = #expect(throws: ImageError.self) { try BitmapImage.decode(Self.header(count)) }
            #expect((error == .corrupt(.jpegXL, "too many channels")) == (count > 2))
        }

        /// A codestream of 64 pixels a side that ends after its image header (ISO/IEC 18181-1 annex D), all of whose
        /// extra channels are transparency.
        private static func header(_ extraChannels: Int) -> Data {
            var fields: [(value: Int, bits: Int)] = [(0x0AFF, 16)]
            fields += [(1, 1), (7, 5), (1, 3)]  // small, 64 pixels high, as wide
            fields += [(0, 1), (0, 1), (0, 1), (0, 2), (1, 1)]  // not all by default, 8 bits
            switch extraChannels {
            case 0...1: fields += [(extraChannels, 2)]
            default: fields += [(2, 2), (extraChannels - 2, 4)]
            }
            fields += Array(repeating: (1, 1), count: extraChannels)
            fields += [(1, 1), (1, 1), (0, 2), (1, 1)]  // XYB, colours, extensions and transforms by default
            var (bytes, free): ([UInt8], Int) = ([], 0)
            for (value, bits) in fields {
                for bit in 0..<bits {
                    if free == 0 { bytes.append(0) }
                    bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << free
                    free = (free + 1) % 8
                }
            }
            return Data(bytes)
        }
    }
#endif
