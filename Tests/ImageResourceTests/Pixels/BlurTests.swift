#if !canImport(ImageIO)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Gaussian blur", .bounded)
    struct BlurTests {
        /// The 8-bit values of a true Gaussian in these columns: separable, in double precision, with the edges continued.
        private static func reference(_ image: BitmapImage, sigma: Double, columns: [Int]) -> [Double] {
            let reach = Int((sigma * 6).rounded(.up)) + 1
            let weights = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
            let sum = weights.reduce(0, +)
            let pixels = image.withUnsafeBytes { $0.map(Double.init) }
            let (width, height) = (image.width, image.height)
            let across = convolved(
                pixels, weights.map { $0 / sum }, count: width, step: 4,
                lines: (0..<height).map { $0 * width * 4 }, places: columns)
            return convolved(
                across, weights.map { $0 / sum }, count: height, step: width * 4, lines: columns.map { $0 * 4 },
                places: Array(0..<height))
        }

        /// Convolves lines at some places. They begin at given offsets, and their `count` pixels are `step` values apart.
        private static func convolved(
            _ values: [Double], _ weights: [Double], count: Int, step: Int, lines: [Int], places: [Int]
        ) -> [Double] {
            let reach = weights.count / 2
            var result = values
            values.withUnsafeBufferPointer { values in
                weights.withUnsafeBufferPointer { weights in
                    for start in lines.flatMap({ line in (0..<4).map { line + $0 } }) {
                        for index in places {
                            var sum = 0.0
                            for tap in -reach...reach {
                                let place = min(max(index + tap, 0), count - 1)
                                sum += values[start + place * step] * weights[tap + reach]
                            }
                            result[start + index * step] = sum
                        }
                    }
                }
            }
            return result
        }

        /// The largest difference between the blurred image and the rounded values of a true Gaussian.
        /// - Parameter columns: The columns that are compared; nil for all.
        private func error(_ image: BitmapImage, sigma: Double, columns: [Int]? = nil) throws -> Int {
            let blurred = try ImageProcessing.apply([.blur(radius: sigma)], to: image)
            #expect(blurred.width == image.width && blurred.height == image.height)
            #expect(blurred.isOpaque == image.isOpaque)
            let columns = columns ?? Array(0..<image.width)
            let expected = Self.reference(image, sigma: sigma, columns: columns)
            return blurred.withUnsafeBytes { bytes in
                var largest = 0
                for pixel in (0..<image.height).flatMap({ row in columns.map { row * image.width + $0 } }) {
                    for place in pixel * 4..<pixel * 4 + 4 {
                        largest = max(largest, abs(Int(bytes[place]) - Int(expected[place].rounded())))
                    }
                }
                return largest
            }
        }

        @Test(
            "photographs are within 1 of a true Gaussian's values",
            arguments: [0.4, 1, 2.5, 3.99, 4, 5.3, 6, 9.7, 20])
        func photographs(_ sigma: Double) throws {
            for photograph in try SamplePhotograph.all() {
                let image = try BitmapImage.decode(photograph.data, sizing: .maxPixelSize(48))
                #expect(try error(image, sigma: sigma) <= 1, "\(photograph.file)")
            }
        }

        @Test("so are large photographs, in some of their columns", arguments: [12.0, 50])
        func largePhotographs(_ sigma: Double) throws {
            for photograph in try SamplePhotograph.all() {
                let image = try BitmapImage.decode(photograph.data, sizing: .maxPixelSize(400))
                let columns = [0, 1, image.width / 3, image.width / 2 + 1, image.width - 1]
                #expect(try error(image, sigma: sigma, columns: columns) <= 1, "\(photograph.file)")
            }
        }

        @Test("so are hard edges, noise and transparency", arguments: [0.8, 3.5, 4, 7, 13])
        func hardEdges(_ sigma: Double) throws {
            var random = SeededGenerator(seed: 7)
            for kind in 0..<3 {
                let image = BitmapImage(width: 61, height: 47) { pixels in
                    for index in 0..<61 * 47 {
                        let isInside = (index % 61 > 20) != (index / 61 > 30)
                        let alpha =
                            kind == 0 || isInside ? 255 : kind == 1 ? 0 : UInt8.random(in: 0...255, using: &random)
                        for channel in 0..<3 {
                            let value = kind == 0 ? (isInside ? 255 : 0) : UInt8.random(in: 0...alpha, using: &random)
                            pixels[index * 4 + channel] = value
                        }
                        pixels[index * 4 + 3] = alpha
                    }
                }
                #expect(try error(try #require(image), sigma: sigma) <= 1)
            }
        }

        @Test(
            "pictures of any size can be blurred by any radius", arguments: [(1, 1), (2, 3), (1, 50), (50, 1), (33, 5)])
        func sizes(_ width: Int, _ height: Int) throws {
            let image = try BitmapImageTests.sample(width, height, isOpaque: false)
            for sigma in [0.1, 1, 4, 30] { #expect(try error(image, sigma: sigma) <= 1) }
            for sigma in [-1, 0, 0.01, .nan] as [CGFloat] {
                #expect(try ImageProcessing.apply([.blur(radius: sigma)], to: image) == image)
            }
            // The radius is limited to 1,000 pixels.
            let widest = try ImageProcessing.apply([.blur(radius: 1000)], to: image)
            #expect(try ImageProcessing.apply([.blur(radius: 1e9)], to: image) == widest)
        }

        @Test("a very wide picture, which is turned to save memory, is blurred like a part of it", arguments: [0.8, 9])
        func wide(_ radius: Double) throws {
            let wide = try #require(
                BitmapImage(width: 33_000, height: 2) { pixels in
                    for index in pixels.indices {
                        pixels[index] = index % 4 == 3 ? 255 : UInt8(truncatingIfNeeded: index &* index >> 7)
                    }
                })
            let part = try #require(wide.cropped(x: 0, y: 0, width: 300, height: 2))
            let (turned, plain) = (
                try ImageProcessing.apply([.blur(radius: radius)], to: wide),
                try ImageProcessing.apply([.blur(radius: radius)], to: part)
            )
            for row in 0..<2 {
                // The right end of the part continues with its last pixels.
                let (one, other) = (
                    turned.withUnsafeBytes { Array($0[row * 33_000 * 4..<(row * 33_000 + 200) * 4]) },
                    plain.withUnsafeBytes { Array($0[row * 300 * 4..<(row * 300 + 200) * 4]) }
                )
                #expect(zip(one, other).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
            }
        }

        @Test("no colour exceeds its alpha", arguments: [0.7, 5, 40])
        func premultiplied(_ radius: CGFloat) throws {
            let image = try BitmapImageTests.sample(80, 70, isOpaque: false)
            let blurred = try ImageProcessing.apply([.blur(radius: radius)], to: image)
            let isRight = blurred.withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count, by: 4).allSatisfy { bytes[$0..<$0 + 3].max() ?? 0 <= bytes[$0 + 3] }
            }
            #expect(isRight)
        }

        @Test("the radius is in points")
        func points() throws {
            let image = try BitmapImageTests.sample(40, 30)
            let scaled = try ImageProcessing.apply([.blur(radius: 2)], to: image.withScale(3))
            #expect(try ImageProcessing.apply([.blur(radius: 6)], to: image) == scaled)
            #expect(scaled.scale == 3)
        }

        @Test("a blur ends when its load is cancelled", arguments: [2.0, 50])
        func cancelled(_ radius: CGFloat) throws {
            let image = try BitmapImageTests.sample(20, 200)
            let asked = Locked(0)
            let probe: @Sendable () -> Bool = {
                asked.withLock { asked in
                    asked += 1
                    return asked > 50
                }
            }
            #expect(throws: CancellationError.self) {
                try ParseCancellation.with(probe) { try ImageProcessing.apply([.blur(radius: radius)], to: image) }
            }
            #expect(asked.withLock { $0 } == 51)
        }
    }
#endif
