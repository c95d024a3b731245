#if !canImport(ImageIO)
    import Foundation
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Cancelled decodes", .bounded)
    struct CancellationTests {
        /// Images of 1,500 × 1,000 pixels, in each format that is decoded in steps.
        static let files = [
            "large-baseline.jpg", "large-progressive.jpg", "large-rows.png", "large-interlaced.png", "large-lossy.webp",
            "large-lossless.webp", "large-frame.gif",
        ]

        /// Decodes, and cancels when it is asked for the nth time whether it is; how often it was asked in all.
        private func asks(_ data: Data, _ sizing: ImageSizing, cancelAt limit: Int = .max) throws -> Int {
            let asked = Locked(0)
            let probe: @Sendable () -> Bool = {
                asked.withLock { asked in
                    asked += 1
                    return asked >= limit
                }
            }
            do {
                _ = try ParseCancellation.with(probe) { try BitmapImage.decode(data, sizing: sizing) }
                #expect(limit == .max)
            } catch is CancellationError {
                #expect(limit != .max)
            }
            return asked.withLock { $0 }
        }

        @Test("a caller of uninterruptible work can leave, and the work ends by itself")
        func aside() {
            let (mayEnd, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            #expect(throws: CancellationError.self) {
                try ParseCancellation.with({ true }) {
                    try DetachedWork.run {
                        mayEnd.wait()
                        hasEnded.signal()
                    }
                }
            }
            mayEnd.signal()
            hasEnded.wait()
        }

        @Test("pictures that are made by another thread are right")
        func madeAside() throws {
            let data = try Samples.data("patient-lossless.webp")
            try expectPixels(of: data, within: 0) { x, y in [(x / 40 + y / 40) % 7 * 30, y / 8, x / 8, 255] }
            try expectPixels(of: Samples.data("patient-lossy.webp"), within: 2) { _, _ in [150, 120, 90, 255] }
            #expect(throws: ImageError.self) { try BitmapImage.decode(data.prefix(data.count / 2)) }
        }

        /// Looks at some thousand pixels.
        private func expectPixels(of data: Data, within tolerance: Int, _ expected: (Int, Int) -> [Int]) throws {
            let image = try BitmapImage.decode(data)
            #expect(image.width == 1600 && image.height == 1300)
            let isRight = image.withUnsafeBytes { bytes in
                stride(from: 0, to: 1600 * 1300, by: 331).allSatisfy { index in
                    zip(bytes[index * 4..<index * 4 + 4], expected(index % 1600, index / 1600)).allSatisfy {
                        abs(Int($0) - $1) <= tolerance
                    }
                }
            }
            #expect(isRight)
        }

        @Test("the result is what the other thread returns or throws")
        func asideAnswers() throws {
            #expect(try DetachedWork.run { 7 } == 7)
            #expect(throws: ImageError.outOfMemory) { try DetachedWork.run { throw ImageError.outOfMemory } }
        }

        @Test("a decode checks often for cancellation, and ends there", arguments: files)
        func steps(_ file: String) throws {
            let data = try Samples.data(file)
            for sizing in [ImageSizing.stored, .maxPixelSize(100)] {
                let all = try asks(data, sizing)
                // 1.5 megapixels: every quarter of a megapixel at least, which takes some 3 ms.
                #expect(all >= 6)
                for limit in [1, 2, all / 3, all / 2, all - 1] {
                    // An error from a library is followed by the question whether it was a cancel.
                    #expect(try asks(data, sizing, cancelAt: limit) <= limit + 1)
                }
            }
        }

        @Test("a PNG decode checks for cancellation while it reads data without pixels")
        func emptyBlocks() throws {
            var file = PNGFile(size: PixelSize(width: 5, height: 5))
            let blocks = repeatElement(PNGFile.block([]), count: 20_000).joined()
            file.pixels =
                PNGFile.streamStart + blocks + PNGFile.block(.init(repeating: 0, count: 5 * 21), isLast: true)
            #expect(try asks(file.data, .stored) >= 12)  // every 8 KB
            #expect(try asks(file.data, .stored, cancelAt: 8) <= 9)
        }

        @Test(
            "a preview checks often for cancellation, and a cancelled one ends there",
            arguments: ["large-baseline.jpg", "large-progressive.jpg", "large-lossy.webp", "large-lossless.webp"])
        func previews(_ file: String) throws {
            let data = try Samples.data(file)
            for sizing in [ImageSizing.stored, .maxPixelSize(100)] {
                let all = asksOfPreview(data, sizing, cancelAt: .max)
                #expect(all.isShown && all.count >= 6)
                for limit in [1, 2, all.count / 3, all.count / 2, all.count - 1] {
                    let asked = asksOfPreview(data, sizing, cancelAt: limit)
                    #expect(!asked.isShown && asked.count <= limit + 1)
                }
            }
        }

        /// Makes a preview, and cancels when it is asked for the nth time; how often it was asked in all.
        private func asksOfPreview(
            _ data: Data, _ sizing: ImageSizing, cancelAt limit: Int
        ) -> (count: Int, isShown: Bool) {
            let asked = Locked(0)
            let probe: @Sendable () -> Bool = {
                asked.withLock { asked in
                    asked += 1
                    return asked >= limit
                }
            }
            let image = ParseCancellation.with(probe) { ImagePreviewer(sizing: sizing).preview(of: data) }
            return (asked.withLock { $0 }, image != nil)
        }

        @Test("a decode for a load that was cancelled before it began does not begin")
        func before() throws {
            #expect(try asks(Data("no image at all".utf8), .stored, cancelAt: 1) == 1)
        }
    }
#endif
