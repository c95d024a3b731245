#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("PNG without the end of its data", .bounded)
    struct CutPNGTests {
        /// A sample with all of its pixel data in one chunk, without the last bytes.
        private func cut(_ file: String, by count: Int, isChecked: Bool = true) throws -> Data {
            var data = try Samples.data(file)
            let start = try #require(data.range(of: Data("IDAT".utf8))).lowerBound - 4
            var (end, content) = (start, Data())
            while data[end + 4..<end + 8].elementsEqual("IDAT".utf8) {
                let length = data[end..<end + 4].reduce(0) { $0 << 8 | Int($1) }
                content += data[end + 8..<end + 8 + length]
                end += length + 12
            }
            let chunk = Array("IDAT".utf8) + content.dropLast(count)
            let checksum = isChecked ? PNGFile.checksum(chunk) : 0
            data.replaceSubrange(
                start..<end, with: HEIFFile.big32(chunk.count - 4) + chunk + HEIFFile.big32(checksum))
            return data
        }

        private static let files = [
            "png-rgb-8.png", "png-rgba-16.png", "png-grey-1.png", "png-rgb-8-interlaced.png", "png-9x8-interlaced.png",
            "png-1x1-interlaced.png",
        ]

        @Test("the checksum of the pixels may be missing, as in browsers", arguments: files)
        func checksumMissing(_ file: String) throws {
            for side in [0, 7] {
                let sizing = ImageSizing.maxPixelSize(side)
                let whole = try BitmapImage.decode(Samples.data(file), sizing: sizing)
                for count in [0, 1, 4] {
                    #expect(try BitmapImage.decode(cut(file, by: count), sizing: sizing) == whole)
                }
            }
        }

        @Test("pixels may not be missing", arguments: files)
        func pixelsMissing(_ file: String) throws {
            for side in [0, 7] {
                #expect(throws: ImageError.self) {
                    try BitmapImage.decode(cut(file, by: 12), sizing: .maxPixelSize(side))
                }
            }
        }

        @Test("data beyond the pixels are not read, and may be missing", arguments: [false, true])
        func surplus(_ isInterlaced: Bool) throws {
            var file = PNGFile(size: PixelSize(width: 5, height: 5), isInterlaced: isInterlaced)
            let pixels = [UInt8](repeating: 0, count: 30_000)
            file.pixels = PNGFile.streamStart + PNGFile.block(pixels) + PNGFile.block(pixels)
            #expect(try BitmapImage.decode(file.data.prefix(50_000)).width == 5)
        }

        @Test("the checksum of the chunk is checked", arguments: files)
        func wrongChecksum(_ file: String) throws {
            #expect(throws: ImageError.self) { try BitmapImage.decode(cut(file, by: 4, isChecked: false)) }
        }
    }
#endif
