#if !canImport(ImageIO)
    import Foundation
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// Smaller pictures of fine detail and grain, at reductions between the whole and a twenty-second, whatever way they
    /// are made in.
    @Suite("Reductions", .bounded)
    struct ReductionTests {
        private static let reductions = [
            1.3, 1.6, 2, 2.4, 2.7, 3.1, 3.5, 4, 4.6, 5, 5.3, 5.8, 6.3, 7.1, 7.5, 7.9, 8.6, 9.4, 10.5, 11.7, 12.8, 13.7,
            14.5, 15.4, 16, 18.2, 19.1, 21.7,
        ]

        /// A fifth of the reductions, which differs between files; in a soak, all.
        private static func reductions(of file: String) -> [Double] {
            reductions.enumerated().filter { Soak.isOn || $0.offset % 5 == file.utf8.count % 5 }.map(\.element)
        }

        @Test(
            "each pixel is the mean of the area that it covers, within 45 dB",
            arguments: [
                "detailed-420.jpg", "detailed-422.jpg", "detailed-444-progressive.jpg", "detailed-422-progressive.jpg",
                "detailed-440-progressive.jpg", "detailed-411-progressive.jpg", "detailed-lossy.webp",
                "detailed-lossy-alpha.webp", "reduced-lossless.webp", "reduced-rgba.png", "reduced-interlaced.png",
                "large-frame.gif", "detailed-bleeding.webp", "detailed-prophoto.jpg",
                "detailed-prophoto-progressive.jpg", "detailed-prophoto.webp", "detailed-prophoto.png",
                "detailed-p3.webp", "detailed-p3.png", "detailed-cmyk.jpg", "detailed-black.jpg",
            ])
        func means(_ file: String) throws {
            let data = try Samples.data(file)
            let whole = try BitmapImage.decode(data)
            for reduction in Self.reductions(of: file) {
                let side = Int((Double(max(whole.width, whole.height)) / reduction).rounded())
                let sizing = ImageSizing.maxPixelSize(side)
                let decibels = try Pixels.decibels(BitmapImage.decode(data, sizing: sizing), whole.resized(sizing))
                #expect(decibels >= 45, "at 1/\(reduction)")
            }
        }

        @Test("so it is in a JPEG with black ink and no profile", arguments: [ImageSizing.Filter.area, .lanczos])
        func blackInk(_ filter: ImageSizing.Filter) throws {
            var data = try Samples.data("detailed-black.jpg")
            let segment = try #require(data.range(of: Data("ICC_PROFILE\0".utf8))).lowerBound - 4
            data.removeSubrange(segment..<segment + 2 + Int(data[segment + 2]) << 8 + Int(data[segment + 3]))
            let whole = try BitmapImage.decode(data)
            for reduction in Self.reductions(of: "") {
                let sizing = ImageSizing.maxPixelSize(Int((Double(whole.width) / reduction).rounded()), filter: filter)
                let decibels = try Pixels.decibels(BitmapImage.decode(data, sizing: sizing), whole.resized(sizing))
                #expect(decibels >= 45, "at 1/\(reduction)")
            }
        }

        /// Fine detail in strong colours, some of which are clipped to sRGB.
        @Test("a JPEG in Display P3 comes within 44.5 dB at hardly any cost")
        func displayP3() throws {
            let data = try Samples.data("detailed-p3.jpg")
            let whole = try BitmapImage.decode(data)
            for reduction in Self.reductions(of: "") {
                let sizing = ImageSizing.maxPixelSize(Int((Double(whole.width) / reduction).rounded()))
                let decibels = try Pixels.decibels(BitmapImage.decode(data, sizing: sizing), whole.resized(sizing))
                #expect(decibels >= 44.5, "at 1/\(reduction)")
            }
        }

        @Test("only inks and a profile with tones unlike those of sRGB need the full JPEG")
        func decodedSizes() throws {
            #expect(try self.reduction("detailed-p3.jpg", side: 17).lowFrequencyOnly)
            #expect(try self.reduction("detailed-p3.jpg", side: 20).eighths == 2)
            #expect(try self.reduction("icc-rgb.jpg", side: 2).lowFrequencyOnly == false)
            #expect(try self.reduction("detailed-prophoto.jpg", side: 17).eighths == 8)
            #expect(try self.reduction("detailed-cmyk.jpg", side: 17).eighths == 8)
        }

        /// A larger picture than the result needs would make the default filter slower than Pillow's `draft` and `thumbnail`,
        /// with which the benchmark of images compares it.
        @Test(
            "the area filter decodes no more than it needs",
            arguments: [(60, 8, false), (58, 4, false), (23, 4, false), (21, 2, false), (18, 2, false), (17, 2, true)])
        func noMoreThanNeeded(side: Int, eighths: Int, lowFrequencyOnly: Bool) throws {
            let reduction = try reduction("detailed-420.jpg", side: side)
            #expect(reduction.eighths == eighths && reduction.lowFrequencyOnly == lowFrequencyOnly)
        }

        @Test("an sRGB profile costs nothing: the same is decoded as without", arguments: 1...320)
        func sameSizes(_ side: Int) throws {
            let (with, without) = try (
                reduction("detailed-srgb.jpg", side: side), reduction("detailed-420.jpg", side: side)
            )
            #expect(with.eighths == without.eighths)
            #expect(with.lowFrequencyOnly == without.lowFrequencyOnly)
        }

        private func reduction(_ file: String, side: Int) throws -> JPEGReduction {
            try Samples.data(file).withUnsafeBytes { buffer in
                let bytes = ByteReader(buffer)
                let header = try #require(ImageHeader(bytes))
                return JPEGReduction(bytes, plan: DecodePlan(header, sizing: .maxPixelSize(side)))
            }
        }

        @Test(
            "Lanczos's filter gives almost what it gives of the whole",
            arguments: ["detailed-lossy.webp", "detailed-420.jpg", "detailed-black.jpg"])
        func lanczos(_ file: String) throws {
            let data = try Samples.data(file)
            let whole = try BitmapImage.decode(data)
            for reduction in Self.reductions(of: file) {
                let side = Int((Double(max(whole.width, whole.height)) / reduction).rounded())
                let sizing = ImageSizing.maxPixelSize(side, filter: .lanczos)
                let decibels = try Pixels.decibels(BitmapImage.decode(data, sizing: sizing), whole.resized(sizing))
                #expect(decibels >= 43, "at 1/\(reduction)")
            }
        }

        @Test("a mirrored picture becomes a mirrored smaller one", arguments: [ImageSizing.Filter.area, .lanczos])
        func symmetry(_ filter: ImageSizing.Filter) throws {
            var noise = Mutator(seed: 7)
            let made = BitmapImage(width: 100, height: 80, isOpaque: true) { pixels in
                for index in pixels.indices { pixels[index] = index % 4 == 3 || noise.number(below: 2) == 1 ? 255 : 0 }
            }
            let whole = try #require(made)
            for side in [99, 90, 71, 10] {
                let sizing = ImageSizing.maxPixelSize(side, filter: filter)
                let (one, other) = try (whole.resized(sizing), mirrored(mirrored(whole).resized(sizing)))
                // Sums in another order are rounded differently.
                #expect(zip(one.buffer.bytes, other.buffer.bytes).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
            }
        }

        /// The picture with its pixels in reverse, from the bottom right to the top left.
        private func mirrored(_ image: BitmapImage) throws -> BitmapImage {
            let made = BitmapImage(width: image.width, height: image.height, isOpaque: image.isOpaque) { pixels in
                image.withUnsafeBytes { source in
                    let (from, to) = (source.bindMemory(to: UInt32.self), pixels.bindMemory(to: UInt32.self))
                    for index in from.indices { to[from.count - 1 - index] = from[index] }
                }
            }
            return try #require(made)
        }

        /// The mean of the pixels of each area, in floating point, straight from its definition.
        private func mean(_ image: BitmapImage, _ width: Int, _ height: Int) throws -> BitmapImage {
            let source = image.withUnsafeBytes { [UInt8]($0) }
            func share(_ cell: Int, _ start: Double, _ end: Double) -> Double {
                max(0, min(end, Double(cell + 1)) - max(start, Double(cell)))
            }
            let (across, down) = (Double(image.width) / Double(width), Double(image.height) / Double(height))
            let made = BitmapImage(width: width, height: height, isOpaque: image.isOpaque) { pixels in
                for y in 0..<height {
                    for x in 0..<width {
                        var sums = [Double](repeating: 0, count: 4)
                        let (left, top) = (Double(x) * across, Double(y) * down)
                        for row in Int(top)..<min(image.height, Int((top + down).rounded(.up))) {
                            for column in Int(left)..<min(image.width, Int((left + across).rounded(.up))) {
                                let weight = share(row, top, top + down) * share(column, left, left + across)
                                for channel in 0..<4 {
                                    sums[channel] += weight * Double(source[(row * image.width + column) * 4 + channel])
                                }
                            }
                        }
                        for channel in 0..<4 {
                            pixels[(y * width + x) * 4 + channel] = UInt8((sums[channel] / (across * down)).rounded())
                        }
                    }
                }
            }
            return try #require(made)
        }

        @Test("what it is compared with is that mean", arguments: [17, 45, 112])
        func reference(_ side: Int) throws {
            let whole = try BitmapImage.decode(Samples.data("detailed-420.jpg"))
            let small = try whole.resized(.maxPixelSize(side))
            #expect(try Pixels.decibels(small, mean(whole, small.width, small.height)) > 58)
        }
    }
#endif
