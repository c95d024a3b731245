#if !canImport(ImageIO)
    import Foundation
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// Small pictures of JPEGs, for which most of the file is passed over.
    @Suite("JPEGs at a quarter of their size", .bounded)
    struct QuarterScaleJPEGTests {
        /// All rows that come by the short way, and whether that was the whole picture; nil if the file is not for it.
        private func quarter(_ data: Data) throws -> (rows: [UInt8], size: PixelSize, isComplete: Bool)? {
            try data.withUnsafeBytes { bytes in
                let reader = try JPEGReader()
                reader.give(ByteReader(bytes), isComplete: true)
                guard try reader.readHeader(ByteReader(bytes)) != nil, let size = reader.startQuarterScale() else {
                    return nil
                }
                var rows = [UInt8](repeating: 0, count: size.bytes)
                let complete = rows.withUnsafeMutableBytes { all(into: $0, size, reader.quarterScaleRows) }
                return (rows, size, complete)
            }
        }

        /// The same by libjpeg, of all coefficients.
        private func exactQuarter(_ data: Data) throws -> (rows: [UInt8], isTruncated: Bool) {
            try data.withUnsafeBytes { bytes in
                let reader = try JPEGReader()
                reader.give(ByteReader(bytes), isComplete: true)
                _ = try reader.readHeader(ByteReader(bytes))
                let size = try #require(try reader.start(eighths: 2))
                var rows = [UInt8](repeating: 0, count: size.bytes)
                _ = try rows.withUnsafeMutableBytes { try all(into: $0, size, reader.rows) }
                return (rows, reader.isTruncated)
            }
        }

        private func all(
            into rows: UnsafeMutableRawBufferPointer, _ size: PixelSize,
            _ next: (UnsafeMutableRawPointer, Int, Int) throws -> Int
        ) rethrows -> Bool {
            guard let base = rows.baseAddress else { return false }
            var row = 0
            while row < size.height {
                let count = try next(base + row * size.width * 4, size.width * 4, min(16, size.height - row))
                if count == 0 { return false }
                row += count
            }
            return true
        }

        /// A soft picture: nothing in it is finer than the slopes of its blocks.
        private func softPicture(_ width: Int, _ height: Int) throws -> BitmapImage {
            let image = BitmapImage(width: width, height: height, isOpaque: true) { pixels in
                for y in 0..<height {
                    for x in 0..<width {
                        let colour = [60 + x, 40 + y, 200 - (x + y) / 2, 255]
                        for (channel, value) in colour.enumerated() {
                            pixels[(y * width + x) * 4 + channel] = UInt8(clamping: value)
                        }
                    }
                }
            }
            return try #require(image)
        }

        @Test(
            "a soft picture is at a quarter what libjpeg makes of it, but for rounding",
            arguments: [(120, 97), (65, 8)])
        func soft(_ width: Int, _ height: Int) throws {
            let data = try #require(try softPicture(width, height).jpegData(compressionQuality: 0.95))
            let small = try #require(try quarter(data))
            #expect(small.isComplete)
            #expect(small.size == PixelSize(width: (width + 3) / 4, height: (height + 3) / 4))
            let exact = try exactQuarter(data).rows
            #expect(zip(small.rows, exact).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
        }

        @Test(
            "what is common goes the short way to its end",
            arguments: [
                "jpeg-444.jpg", "jpeg-422.jpg", "jpeg-420.jpg", "jpeg-440.jpg", "jpeg-grey.jpg", "jpeg-restarts.jpg",
                "jpeg-1x1.jpg", "jpeg-17x1.jpg", "jpeg-9x16.jpg", "reduced-420.jpg", "reduced-444.jpg",
                "reduced-grey.jpg", "large-baseline.jpg",
            ])
        func common(_ file: String) throws {
            let data = try Samples.data(file)
            let small = try #require(try quarter(data))
            #expect(small.isComplete)
            let exact = try exactQuarter(data).rows
            #expect(small.rows.count == exact.count)
            var squares = 0
            for (sample, exactSample) in zip(small.rows, exact) {
                let difference = Int(sample) - Int(exactSample)
                squares += difference * difference
            }
            // It is smoother.
            #expect(Double(squares) / Double(exact.count) < 60)
        }

        @Test(
            "what is rare does not",
            arguments: [
                "jpeg-411.jpg", "jpeg-410.jpg", "jpeg-rgb.jpg", "jpeg-arithmetic.jpg", "jpeg-cmyk.jpg", "jpeg-ycck.jpg",
                "jpeg-scattered.jpg", "jpeg-420-progressive.jpg",
            ])
        func rare(_ file: String) throws {
            #expect(try quarter(Samples.data(file)) == nil)
        }

        @Test(
            "small pictures are near those made of every coefficient",
            arguments: [
                "jpeg-444.jpg", "jpeg-422.jpg", "jpeg-420.jpg", "jpeg-440.jpg", "jpeg-411.jpg", "jpeg-410.jpg",
                "jpeg-grey.jpg", "jpeg-rgb.jpg", "jpeg-restarts.jpg", "jpeg-arithmetic.jpg", "jpeg-cmyk.jpg",
                "jpeg-scattered.jpg", "jpeg-444-progressive.jpg", "jpeg-422-progressive.jpg",
                "jpeg-420-progressive.jpg", "jpeg-440-progressive.jpg", "jpeg-411-progressive.jpg",
                "jpeg-410-progressive.jpg", "jpeg-grey-progressive.jpg", "jpeg-cmyk-progressive.jpg", "reduced-420.jpg",
                "reduced-444.jpg", "reduced-grey.jpg", "reduced-progressive.jpg", "large-baseline.jpg",
                "large-progressive.jpg",
            ], [ImageSizing.Filter.area, .lanczos])
        func small(_ file: String, _ filter: ImageSizing.Filter) throws {
            let data = try Samples.data(file)
            let whole = try BitmapImage.decode(data)
            let sizing = ImageSizing.maxPixelSize(max(1, max(whole.width, whole.height) / 14), filter: filter)
            #expect(try Pixels.decibels(BitmapImage.decode(data, sizing: sizing), whole.resized(sizing)) > 43)
        }

        @Test("what is not quite in order is left to libjpeg, which makes something of it")
        func notInOrder() throws {
            let data = try Samples.data("reduced-420.jpg")
            // A byte more than padding before the end; a byte more to fill up; another marker; data behind it.
            for (tail, isForIt) in [
                ([0x00, 0xFF, 0xD9], false), ([0xFF, 0xFF, 0xD9], false), ([0xFF, 0xD0, 0xFF, 0xD9], false),
                ([0xFF, 0xD9, 1, 2, 3], true),
            ] as [([UInt8], Bool)] {
                let changed = data.dropLast(2) + Data(tail)
                #expect(try quarter(changed)?.isComplete == isForIt)
                let small = try BitmapImage.decode(changed, sizing: .maxPixelSize(20))
                #expect(try Pixels.decibels(small, BitmapImage.decode(data, sizing: .maxPixelSize(20))) > 43)
            }
        }

        @Test("restart markers that are missing, or in the wrong order, are left to libjpeg")
        func restarts() throws {
            let bytes = [UInt8](try Samples.data("jpeg-restarts.jpg"))
            let markers = bytes.indices.dropLast().filter { bytes[$0] == 0xFF && (0xD0...0xD7).contains(bytes[$0 + 1]) }
            #expect(markers.count > 1)
            for marker in markers {
                var changed = bytes
                changed[marker + 1] ^= 1
                #expect(try quarter(Data(changed))?.isComplete == false)
                changed.removeSubrange(marker...marker + 1)
                #expect(try quarter(Data(changed))?.isComplete == false)
            }
        }

        @Test("what the short way takes for complete, libjpeg does, too")
        func mutations() throws {
            let samples = try ["tiny-420.jpg", "tiny-restarts.jpg", "tiny-grey.jpg", "jpeg-444.jpg"]
                .map { [UInt8](try Samples.data($0)) }
            var mutator = Mutator(seed: 0x0DC)
            var complete = 0
            let turns = Soak.count(10_000, inSoak: 50_000)
            for turn in 0..<turns {
                let data = Data(mutator.corrupted(samples[turn % samples.count]))
                guard ImageHeader(data).map({ $0.pixelWidth <= 200 && $0.pixelHeight <= 200 }) ?? false else {
                    continue
                }
                guard let small = try? quarter(data), small.isComplete else { continue }
                complete += 1
                #expect(try exactQuarter(data).isTruncated == false)
            }
            #expect(complete > turns / 50)
        }
    }
#endif
