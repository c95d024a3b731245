#if !canImport(ImageIO)
    import Foundation
    import Synchronizer
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// Small files that ask for much.
    @Suite("Bombs", .bounded)
    struct BombTests {
        private func big16(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
        private func little16(_ value: Int) -> [UInt8] { big16(value).reversed() }

        /// A JPEG as far as its frame header, and no more.
        private func jpegHeader(_ width: Int, _ height: Int) throws -> Data {
            var bytes = [UInt8](try Samples.data("tiny-420.jpg"))
            let frame = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xC0, 0x00, 0x11]) })
            bytes.replaceSubrange(frame + 5..<frame + 9, with: big16(height) + big16(width))
            return Data(bytes)
        }

        private func gif(_ width: Int, _ height: Int, frames: [[UInt8]]) -> Data {
            let head = Array("GIF89a".utf8) + little16(width) + little16(height) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
            return Data(head + frames.flatMap { $0 } + [0x3B])
        }

        private func frame(_ width: Int, _ height: Int) -> [UInt8] {
            [0x2C, 0, 0, 0, 0] + little16(width) + little16(height) + [0, 2, 3, 0x44, 0x01, 0x05, 0]
        }

        @Test("an image of more pixels than the limit is refused by its header")
        func manyPixels() throws {
            let header: [UInt8] = [26, 0, 0, 0] + Array("WEBPVP8X".utf8) + [10, 0, 0, 0, 0, 0, 0, 0]
            let webp = Data(Array("RIFF".utf8) + header + [0xFF, 0x3F, 0, 0xFF, 0x3F, 0, 0, 0, 0, 0])
            let images: [(Data, Int, Int)] = [
                (try jpegHeader(56540, 56540), 56540, 56540), (gif(65535, 65535, frames: []), 65535, 65535),
                (webp, 16384, 16384),
            ]
            for (data, width, height) in images {
                let error = ImageError.tooManyPixels(width: width, height: height, limit: 100_000_000)
                #expect(throws: error) { try BitmapImage.decode(data) }
                #expect(throws: error) { try AnimatedImage(data: data) }
            }
        }

        @Test("a JPEG of a hundred megapixels without data ends when its data do")
        func noData() throws {
            #expect(throws: ImageError.self) {
                try BitmapImage.decode(try jpegHeader(9999, 9999), sizing: .maxPixelSize(50))
            }
        }

        @Test("a JPEG of six hundred scans is refused")
        func scans() throws {
            #expect(throws: ImageError.corrupt(.jpeg, "more than 100 scans")) {
                try BitmapImage.decode(Samples.data("bomb-scans.jpg"))
            }
        }

        @Test(
            "the larger a JPEG is the fewer scans it may have",
            arguments: [(1, 1, 100), (4000, 3000, 100), (8000, 8000, 62), (10_000, 10_000, 40), (65_500, 65_500, 0)])
        func scanLimit(_ width: Int, _ height: Int, _ most: Int) throws {
            let limit = JPEGScanLimit(PixelSize(width: width, height: height))
            try limit.check(most)
            #expect(throws: ImageError.corrupt(.jpeg, "more than \(most) scans")) { try limit.check(most + 1) }
        }

        @Test(
            "what is packed into a PNG beside its pixels is not unpacked",
            arguments: ["bomb-text.png", "bomb-profile.png"])
        func packed(_ file: String) throws {
            let image = try BitmapImage.decode(Samples.data(file))
            #expect(image.width == 40 && image.height == 32)
        }

        @Test("an interlaced PNG that needs memory for all of its pixels is refused if the budget is smaller")
        func interlaced() throws {
            let data = try Samples.data("bomb-interlaced.png")
            try data.withUnsafeBytes { bytes in
                #expect(throws: ImageError.self) {
                    _ = try Decoding(ByteReader(bytes), sizing: .maxPixelSize(100), budget: 300 << 20)
                }
                let decoding = try Decoding(ByteReader(bytes), sizing: .maxPixelSize(100), budget: 500 << 20)
                #expect(decoding.cost > 399_000_000)
            }
        }

        @Test("a GIF frame larger than its canvas counts with its own size")
        func largeFrame() {
            #expect(throws: ImageError.self) { try BitmapImage.decode(gif(10, 10, frames: [frame(65535, 65535)])) }
        }

        @Test("a WebP frame that reaches beyond its canvas is not decoded", arguments: [6, 9])
        func frameBeyondCanvas(_ side: Int) throws {
            // Found by the fuzzer: 16 million pixels on a side, on a canvas of forty.
            var bytes = [UInt8](try Samples.data("webp-animated-lossy.webp"))
            let frame = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("ANMF".utf8)) }) + 8
            bytes.replaceSubrange(frame + side..<frame + side + 3, with: [0xFF, 0xFF, 0xFF])
            #expect(throws: ImageError.corrupt(.webp, "no frame")) { try BitmapImage.decode(Data(bytes)) }
            #expect(throws: ImageError.corrupt(.webp, "no frame")) { try AnimatedImage(data: Data(bytes)) }
        }

        @Test("a GIF of a hundred thousand frames is decoded frame by frame")
        func manyFrames() throws {
            let data = gif(10, 10, frames: Array(repeating: frame(1, 1), count: 100_000))
            #expect(try BitmapImage.decode(data).width == 10)
            let animation = try AnimatedImage(data: data)
            #expect(animation.frameCount == 100_000)
            #expect(try animation.frame(at: 3).width == 10)
        }

        @Test("a GIF of more frames than the limit is refused")
        func tooManyFrames() {
            let frames = Array(repeating: frame(1, 1), count: AnimationFrame.most + 1)
            #expect(throws: ImageError.corrupt(.gif, "more than 131072 frames")) {
                try AnimatedImage(data: gif(10, 10, frames: frames))
            }
        }

        @Test("records of frames count towards the memory of an animation")
        func frameCost() throws {
            let data = gif(10, 10, frames: Array(repeating: frame(1, 1), count: 1000))
            #expect(try AnimatedImage(data: data).byteCount > data.count + 1000 * MemoryLayout<AnimationFrame>.stride)
        }

        @Test("a decode that only clears its table ends when no load waits for it")
        func clears() {
            // Codes of three bits, all of them 4: to clear the table.
            let codes = Array(repeating: [UInt8]([0x24, 0x49, 0x92]), count: 85).flatMap { $0 }
            let blocks = Array(repeating: [255] + codes, count: 100).flatMap { $0 }
            let image = gif(10, 10, frames: [[0x2C, 0, 0, 0, 0, 10, 0, 10, 0, 0, 2] + blocks + [0]])
            let asked = Locked(0)
            #expect(throws: CancellationError.self) {
                try ParseCancellation.with({
                    asked.withLock {
                        $0 += 1; return $0 > 5
                    }
                }) {
                    try BitmapImage.decode(image)
                }
            }
        }

        @Test("a GIF without end of blocks, without colours or without frames is an error")
        func senseless() {
            #expect(throws: ImageError.self) { try BitmapImage.decode(gif(10, 10, frames: [])) }
            #expect(throws: ImageError.self) {
                try BitmapImage.decode(Data("GIF89a".utf8) + [5, 0, 5, 0, 0, 0, 0, 0x2C])
            }
            let endless = gif(10, 10, frames: [[0x21, 0xFE] + Array(repeating: 0x01, count: 5000)])
            #expect(throws: ImageError.self) { try BitmapImage.decode(endless) }
        }

        @Test(
            "a WebP of many chunks has its size, and no orientation behind the first thousands",
            arguments: [9, Soak.count(50_000, inSoak: 1_000_000)])
        func manyChunks(_ count: Int) throws {
            let stored = try Samples.data("webp-turned.webp")
            let exif = try #require(stored.range(of: Data("EXIF".utf8))).lowerBound
            let filler = Data(repeatElement(Array("FILL".utf8) + [0, 0, 0, 0], count: count).joined())
            let image = stored[..<exif] + filler + stored[exif...]
            let header = try #require(ImageHeader(image))
            #expect(header.pixelWidth == ImageHeader(stored)?.pixelWidth)
            #expect(header.orientation == (count < 4096 ? ImageHeader(stored)?.orientation : .up))
        }

        @Test(
            "the size of an AVIF is not looked for behind thousands of boxes",
            arguments: [9, Soak.count(50_000, inSoak: 1_000_000)])
        func manyBoxes(_ count: Int) throws {
            let stored = try Samples.data("avif-alpha.avif")
            let meta = try #require(stored.range(of: Data("meta".utf8))).lowerBound - 4
            let filler = Data(repeatElement([0, 0, 0, 8] + Array("free".utf8), count: count).joined())
            let header = ImageHeader(stored[..<meta] + filler + stored[meta...])
            #expect(header == (count < 4096 ? ImageHeader(stored) : nil))
        }

        @Test(
            "the size of a JPEG is not looked for behind more than some kilobytes of nothing",
            arguments: [9, 1_000_000])
        func muchBeforeFrame(_ count: Int) throws {
            let stored = try Samples.data("tiny-420.jpg")
            let image = stored.prefix(2) + Data(repeating: 0xFF, count: count) + stored.dropFirst(2)
            #expect(ImageHeader(image) == (count < 65_536 ? ImageHeader(stored) : nil))
        }
    }
#endif
