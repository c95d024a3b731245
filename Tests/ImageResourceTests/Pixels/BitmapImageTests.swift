#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("BitmapImage", .bounded)
    struct BitmapImageTests {
        /// Pixels that differ from one another, premultiplied.
        static func sample(_ width: Int, _ height: Int, isOpaque: Bool = true) throws -> BitmapImage {
            let buffer = try PixelBuffer(PixelSize(width: width, height: height))
            for y in 0..<height {
                for x in 0..<width {
                    let alpha = isOpaque ? 255 : (x * 7 + y * 31) % 256
                    let bytes = [(x * 5) % 256, (y * 3) % 256, (x + y) % 256].map { UInt8($0 * alpha / 255) }
                    for (channel, byte) in (bytes + [UInt8(alpha)]).enumerated() {
                        buffer.row(y).storeBytes(of: byte, toByteOffset: x * 4 + channel, as: UInt8.self)
                    }
                }
            }
            return BitmapImage(buffer, isOpaque: isOpaque)
        }

        @Test("a PNG made of an opaque image is the image again")
        func pngOpaque() throws {
            let image = try Self.sample(37, 23)
            let data = try #require(image.pngData())
            let again = try #require(BitmapImage(data: data))
            #expect(again == image)
            #expect(again.isOpaque)
        }

        @Test("a PNG made of a transparent image is the image again")
        func pngTransparent() throws {
            let image = try Self.sample(37, 23, isOpaque: false)
            let again = try #require(image.pngData().flatMap(BitmapImage.init(data:)))
            #expect(again == image)
            #expect(!again.isOpaque)
        }

        @Test("a JPEG made of an image has its size, and almost its pixels")
        func jpeg() throws {
            let image = try Self.sample(40, 24)
            let data = try #require(image.jpegData(compressionQuality: 1))
            let again = try BitmapImage.decode(data)
            #expect(again.width == 40 && again.height == 24)
            #expect(Pixels.decibels(again, image) > 35)
        }

        @Test("a transparent image lies on white in a JPEG")
        func jpegOnWhite() throws {
            let clear = BitmapImage(try PixelBuffer(PixelSize(width: 8, height: 8), cleared: true), isOpaque: false)
            let again = try BitmapImage.decode(try #require(clear.jpegData(compressionQuality: 0.9)))
            #expect(again.withUnsafeBytes { $0.allSatisfy { $0 == 255 } })
        }

        @Test(
            "a quality beyond the best or the worst is that",
            arguments: [
                (-.infinity, 0), (-1e300, 0), (-1, 0), (1.01, 1), (1e10, 1), (.greatestFiniteMagnitude, 1),
                (.infinity, 1),
            ] as [(CGFloat, CGFloat)])
        func senselessQuality(_ given: CGFloat, _ meant: CGFloat) throws {
            let image = try BitmapImage.decode(Samples.data("png-rgb-8.png"))
            let data = try #require(image.jpegData(compressionQuality: given))
            #expect(data == image.jpegData(compressionQuality: meant))
            #expect(image.jpegData(compressionQuality: .nan) != nil)
        }

        @Test("an image wider than files can be has none")
        func beyondFiles() {
            // Its memory is never touched, and not every system lets a program ask for so much.
            guard let image = BitmapImage(width: 1 << 32 + 1, height: 1, fill: { _ in }) else { return }
            #expect(image.pngData() == nil)
            #expect(image.jpegData(compressionQuality: 1) == nil)
        }

        @Test("a JPEG that would be too wide or too high is nil")
        func tooLarge() throws {
            let long = try #require(BitmapImage(width: 65_501, height: 1) { _ in })
            #expect(long.jpegData(compressionQuality: 0.5) == nil)
            #expect(
                try #require(BitmapImage(width: 1, height: 65_501) { _ in }).jpegData(compressionQuality: 0.5) == nil)
            let fitting = try #require(long.cropped(x: 1, y: 0, width: 65_500, height: 1))
            #expect(ImageHeader(try #require(fitting.jpegData(compressionQuality: 0.5)))?.pixelWidth == 65_500)
        }

        @Test("images are equal by their pixels, and not by their scale")
        func equality() throws {
            let image = try Self.sample(9, 9)
            #expect(try Self.sample(9, 9) == image)
            #expect(image.withScale(2) == image)
            #expect(try Self.sample(9, 9).hashValue == image.hashValue)
            #expect(try Self.sample(9, 9, isOpaque: false) != image)
            #expect(try Self.sample(9, 8) != image)
        }

        @Test("a crop is cut to the image, and nil outside of it")
        func cropping() throws {
            let image = try Self.sample(10, 8)
            let part = try #require(image.cropped(x: 6, y: -2, width: .max, height: 5))
            #expect(part.width == 4 && part.height == 3)
            let same = image.withUnsafeBytes { whole in
                part.withUnsafeBytes { part in (0..<16).allSatisfy { part[$0] == whole[24 + $0] } }
            }
            #expect(same)
            #expect(image.withScale(3).cropped(x: 6, y: 0, width: 2, height: 2)?.scale == 3)
            #expect(image.cropped(x: 10, y: 0, width: 1, height: 1) == nil)
            #expect(image.cropped(x: 0, y: 0, width: 0, height: 5) == nil)
            #expect(image.cropped(x: .max, y: 0, width: .max, height: 5) == nil)
            #expect(image.cropped(x: .min, y: 0, width: .min, height: 5) == nil)
        }

        @Test("a resized image keeps its aspect ratio and never grows")
        func resizing() throws {
            let image = try Self.sample(100, 50)
            let small = try image.resized(.maxPixelSize(20))
            #expect(small.width == 20 && small.height == 10)
            #expect(try image.resized(.maxPixelSize(500)) == image)
            let filled = try image.resized(.space(CGSize(width: 10, height: 10), contentMode: .aspectFill, scale: 2))
            #expect(filled.width == 40 && filled.height == 20 && filled.scale == 2)
        }

        @Test("an image weighs the bytes of its pixels where memory is counted, whatever its file has")
        func cost() throws {
            let resource = ImageResource(url: URL(fileURLWithPath: "/a.png"), maxPixelSize: 20)
            #expect(resource.cost(of: try Self.sample(20, 10), size: 1 << 20) == 20 * 10 * 4)
        }

        @Test("an image filled by a caller is clear where nothing was written, and nil without pixels")
        func filling() throws {
            let image = try #require(BitmapImage(width: 2, height: 2) { $0[7] = 255 })
            #expect(
                image.withUnsafeBytes { Array($0) } == [0, 0, 0, 0, 0, 0, 0, 255] + [UInt8](repeating: 0, count: 8))
            #expect(BitmapImage(width: 0, height: 5) { _ in } == nil)
            #expect(BitmapImage(width: .max, height: .max) { _ in } == nil)
        }

        @Test("a plain colour stays the same at every size")
        func plainColour() throws {
            let buffer = try PixelBuffer(PixelSize(width: 61, height: 47))
            let pixels = buffer.base.assumingMemoryBound(to: UInt32.self)
            for index in 0..<buffer.size.area { pixels[index] = 0x80_40_7F_01 }
            let image = BitmapImage(buffer, isOpaque: false)
            for side in 1...60 {
                let small = try image.resized(.maxPixelSize(side))
                let same = small.withUnsafeBytes { $0.bindMemory(to: UInt32.self).allSatisfy { $0 == 0x80_40_7F_01 } }
                #expect(same, "at \(side) pixels")
            }
        }
    }
#endif
