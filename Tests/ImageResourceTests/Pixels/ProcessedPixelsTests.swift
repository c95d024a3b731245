#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("The pixels of processed images", .bounded)
    struct ProcessedPixelsTests {
        private static func plain(_ width: Int, _ height: Int, _ bgra: [UInt8]) throws -> BitmapImage {
            try #require(
                BitmapImage(width: width, height: height, isOpaque: bgra[3] == 255) { pixels in
                    for index in pixels.indices { pixels[index] = bgra[index % 4] }
                })
        }

        private func pixel(_ image: BitmapImage, _ x: Int, _ y: Int) -> [Int] {
            image.withUnsafeBytes { bytes in (0..<4).map { Int(bytes[(y * image.width + x) * 4 + $0]) } }
        }

        /// The part of a pixel inside a rectangle with round corners, which lies `inset` from the edges, by counting points.
        private func coverage(
            _ x: Int, _ y: Int, _ width: Double, _ height: Double, radius: Double, inset: Double, points: Int = 8
        ) -> Double {
            var inside = 0
            for row in 0..<points {
                for column in 0..<points {
                    let px = Double(x) + (Double(column) + 0.5) / Double(points)
                    let py = Double(y) + (Double(row) + 0.5) / Double(points)
                    let (dx, dy) = (min(px, width - px) - inset, min(py, height - py) - inset)
                    let isCorner = dx < radius && dy < radius
                    let isOutside = isCorner && hypot(radius - dx, radius - dy) > radius
                    inside += dx >= 0 && dy >= 0 && !isOutside ? 1 : 0
                }
            }
            return Double(inside) / Double(points * points)
        }

        private static let shapes: [(width: Int, height: Int, radius: Double)] = [
            (40, 30, 12), (41, 31, 7.5), (20, 20, 10), (21, 21, 10.5), (60, 9, 4.5), (9, 60, 2), (5, 5, 1), (3, 2, 1),
            (1, 1, 0.5), (1, 1, 0.3), (1, 7, 0.5), (7, 1, 0.4),
        ]

        @Test("rounded corners cover the pixels that a circle covers, smoothly", arguments: shapes)
        func corners(_ width: Int, _ height: Int, _ radius: Double) throws {
            let image = try Self.plain(width, height, [200, 100, 50, 255])
            let result = try ImageProcessing.apply([.roundedCorners(radius)], to: image)
            #expect(!result.isOpaque && result.width == width && result.height == height)
            for y in 0..<height {
                for x in 0..<width {
                    let share = coverage(x, y, Double(width), Double(height), radius: radius, inset: 0)
                    let found = pixel(result, x, y)
                    #expect(abs(Double(found[3]) / 255 - share) < 0.1, "\(x), \(y)")
                    #expect(abs(Double(found[0]) - 200 * Double(found[3]) / 255) <= 1)
                }
            }
            if min(width, height) > 1 { #expect(pixel(result, width / 2, height / 2) == [200, 100, 50, 255]) }
        }

        @Test("a radius is limited to half of the shorter side, and none changes nothing")
        func radius() throws {
            let image = try BitmapImageTests.sample(30, 20)
            func rounded(_ radius: CGFloat) throws -> BitmapImage {
                try ImageProcessing.apply([.roundedCorners(radius)], to: image)
            }
            #expect(try rounded(1e9) == rounded(10))
            for radius in [0, -3, CGFloat.nan] {
                #expect(try rounded(radius) == image)
                #expect(try rounded(radius).isOpaque)
            }
            let scaled = try ImageProcessing.apply([.roundedCorners(2)], to: image.withScale(3))
            #expect(try scaled == rounded(6))
        }

        @Test("a border follows the roundest corners")
        func roundest() throws {
            let image = try BitmapImageTests.sample(40, 40)
            let once = try ImageProcessing.apply([.roundedCorners(12), .border(.white, width: 2)], to: image)
            let twice: [ImageProcessing] = [.roundedCorners(12), .roundedCorners(3), .border(.white, width: 2)]
            #expect(try ImageProcessing.apply(twice, to: image) == once)
        }

        @Test("a circle is cut out of the middle", arguments: [(40, 30), (30, 40), (31, 31), (1, 7)])
        func circle(_ width: Int, _ height: Int) throws {
            let image = try BitmapImageTests.sample(width, height)
            let result = try ImageProcessing.apply([.circle], to: image)
            let side = min(width, height)
            #expect(result.width == side && result.height == side)
            // A circle of one pixel covers π / 4 of the pixel.
            let centre = pixel(image, (width - side + 1) / 2 + side / 2, (height - side + 1) / 2 + side / 2)
            let expected = side > 1 ? centre : centre.map { Int((Double($0) * .pi / 4).rounded()) }
            #expect(zip(pixel(result, side / 2, side / 2), expected).allSatisfy { abs($0 - $1) <= (side > 1 ? 0 : 1) })
            if side > 4 { #expect(pixel(result, 0, 0) == [0, 0, 0, 0]) }
        }

        @Test("a crop that changes nothing keeps the corners for a border")
        func uselessCrop() throws {
            let image = try BitmapImageTests.sample(40, 40)
            let size = CGSize(width: 40, height: 40)
            let border = ImageProcessing.border(.white, width: 2)
            #expect(
                try ImageProcessing.apply([.circle, .cropToFill(size), border], to: image)
                    == ImageProcessing.apply([.circle, border], to: image))
        }

        @Test("a border is drawn inside, and follows the corners that were made before", arguments: shapes, [1, 2.5])
        func border(_ shape: (width: Int, height: Int, radius: Double), _ line: Double) throws {
            let image = try Self.plain(shape.width, shape.height, [0, 0, 255, 255])
            let result = try ImageProcessing.apply(
                [.roundedCorners(shape.radius), .border(.white, width: line)], to: image)
            let (width, height) = (Double(shape.width), Double(shape.height))
            for y in 0..<shape.height {
                for x in 0..<shape.width {
                    let outer = coverage(x, y, width, height, radius: shape.radius, inset: 0)
                    let inner = coverage(x, y, width, height, radius: max(0, shape.radius - line), inset: line)
                    let found = pixel(result, x, y)
                    #expect(abs(Double(found[3]) / 255 - outer) < 0.1, "\(x), \(y)")
                    // Blue comes from the border alone.
                    #expect(
                        abs(Double(found[0]) / 255 - (outer - inner)) < 0.2, "\(x), \(y): \(found), \(outer), \(inner)")
                    #expect(found[2] <= found[3] && abs(found[2] - found[3]) <= 1)
                }
            }
        }

        @Test("the coverage of a corner is within a tenth of the true area", arguments: [0, 0.1, 0.5, 0.95, 1, 1.5, 3])
        func coverage(_ radius: Double) {
            for inset in stride(from: 0, to: 1, by: 0.05) {
                let shape = RoundedRectangle(in: PixelSize(width: 12, height: 12), inset: inset, radius: radius)
                for (x, y) in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3)] {
                    let share = coverage(x, y, 12, 12, radius: radius, inset: inset, points: 40)
                    #expect(abs(shape.coverage(column: x, row: y) - share) < 0.1, "\(inset): \(x), \(y)")
                }
            }
        }

        @Test("a border of square corners is exact")
        func squareCorner() throws {
            let image = try Self.plain(10, 10, [0, 0, 0, 255])
            for width in stride(from: 0.1, to: 2, by: 0.1) {
                let result = try ImageProcessing.apply([.border(.white, width: width)], to: image)
                for index in 0..<3 {
                    let side = min(max(Double(index + 1) - width, 0), 1)
                    #expect(abs(Double(pixel(result, index, index)[0]) - 255 * (1 - side * side)) <= 0.51, "\(width)")
                }
            }
        }

        @Test("a translucent border lets the image through, and an opaque image stays opaque")
        func translucentBorder() throws {
            let image = try Self.plain(10, 10, [0, 0, 200, 255])
            let border = ImageProcessing.border(ImageColor(red: 0, green: 1, blue: 0, alpha: 0.5), width: 2)
            let result = try ImageProcessing.apply([border], to: image)
            #expect(result.isOpaque)
            #expect(pixel(result, 0, 0) == [0, 128, 100, 255] && pixel(result, 5, 1) == [0, 128, 100, 255])
            #expect(pixel(result, 2, 2) == [0, 0, 200, 255])
            // A line that is wider than the image covers it.
            let covered = try ImageProcessing.apply([.border(.black, width: 99)], to: image)
            #expect(try covered == Self.plain(10, 10, [0, 0, 0, 255]))
        }

        @Test("a tint keeps transparency: an opaque one replaces colours, a translucent one mixes")
        func tint() throws {
            let image = try BitmapImageTests.sample(40, 30, isOpaque: false)
            let red = ImageColor(red: 1, green: 0, blue: 0.5)
            let solid = try ImageProcessing.apply([.tint(red)], to: image)
            let half = try ImageProcessing.apply([.tint(red.withAlpha(0.5))], to: image)
            for (x, y) in [(0, 0), (3, 4), (39, 29), (17, 20)] {
                let (old, new, mixed) = (pixel(image, x, y), pixel(solid, x, y), pixel(half, x, y))
                #expect(new[3] == old[3] && mixed[3] == old[3])
                #expect(new[2] == old[3] && new[1] == 0 && abs(new[0] - old[3] / 2) <= 1)
                for channel in 0..<3 { #expect(abs(mixed[channel] * 2 - old[channel] - new[channel]) <= 2) }
            }
            #expect(try ImageProcessing.apply([.tint(red.withAlpha(0))], to: image) == image)
        }

        @Test("greys have the luma of Rec. 709 and the transparency of the image")
        func grey() throws {
            let image = try BitmapImageTests.sample(40, 30, isOpaque: false)
            let result = try ImageProcessing.apply([.greyscale], to: image)
            for (x, y) in [(0, 0), (3, 4), (39, 29), (17, 20)] {
                let (old, new) = (pixel(image, x, y), pixel(result, x, y))
                let luma = 0.0722 * Double(old[0]) + 0.7152 * Double(old[1]) + 0.2126 * Double(old[2])
                #expect(new[3] == old[3] && new[0] == new[1] && new[1] == new[2])
                #expect(abs(Double(new[0]) - luma) <= 1)
            }
            #expect(try ImageProcessing.apply([.greyscale], to: Self.plain(3, 3, [255, 255, 255, 255])).isOpaque)
        }

        @Test("colours are limited to what exists")
        func colours() {
            #expect(
                ImageColor(red: 2, green: -1, blue: .nan, alpha: .infinity) == ImageColor(red: 1, green: 0, blue: 0))
        }
    }
#endif
