#if !canImport(ImageIO)
    import Foundation
    import Synchronizer
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Admission", .bounded)
    struct AdmissionTests {
        @Test("more pixels than the limit are an error that says so, and nothing is decoded")
        func pixelLimit() throws {
            let data = try Samples.data("png-rgb-8.png")
            #expect(throws: ImageError.tooManyPixels(width: 31, height: 23, limit: 700)) {
                try data.withUnsafeBytes { _ = try Decoding(ByteReader($0), sizing: .stored, pixels: 700) }
            }
        }

        @Test("limits beyond all sense are no limits, and still nothing overflows", arguments: [Int.max, .min, -1])
        func senselessLimits(_ limit: Int) throws {
            #expect((0...1 << 32).contains(ImageDecoding.bounded(pixels: limit)))
            #expect((0...1 << 48).contains(ImageDecoding.bounded(bytes: limit)))
            var png = try Samples.data("png-rgb-8-interlaced.png")
            // Both sides: 2³¹ - 1.
            for offset in 16..<24 { png[png.startIndex + offset] = offset % 4 == 0 ? 0x7F : 0xFF }
            var webp =
                Data("RIFF".utf8) + Data([22, 0, 0, 0]) + Data("WEBPVP8X".utf8) + Data([10, 0, 0, 0, 2, 0, 0, 0])
            webp += Data(repeating: 0xFF, count: 6)
            for data in [png, webp] {
                #expect(ImageHeader(data) != nil)
                #expect(throws: ImageError.self) {
                    try data.withUnsafeBytes {
                        _ = try Decoding(ByteReader($0), sizing: .stored, pixels: limit, budget: limit).picture(
                            DecodeBudget { limit })
                    }
                }
            }
        }

        @Test("a picture beyond the budget is decoded smaller, in its own aspect ratio")
        func smaller() throws {
            let data = try Samples.data("reduced-420.jpg")
            let (cost, image) = try data.withUnsafeBytes { bytes in
                let decoding = try Decoding(ByteReader(bytes), sizing: .stored, budget: 300_000)
                return (decoding.cost, try decoding.picture())
            }
            #expect(cost <= 300_000)
            #expect((100..<230).contains(image.width))
            #expect(abs(Double(image.width) / Double(image.height) - 333.0 / 251) < 0.02)
        }

        @Test("a small picture of a progressive JPEG needs half the memory of a larger one, or less")
        func coarse() throws {
            let data = try Samples.data("large-progressive.jpg")
            let costs = try data.withUnsafeBytes { bytes in
                try [60, 200].map { try Decoding(ByteReader(bytes), sizing: .maxPixelSize($0)).cost }
            }
            #expect(costs[0] * 2 < costs[1])
        }

        @Test(
            "coefficients are counted wherever the first scan is, and previews wait until it is known",
            arguments: [[0xFF, 0xFE, 0, 0], [0xFF, 0xFE, 0, 1], []] as [[UInt8]])
        func hiddenScan(_ hiding: [UInt8]) throws {
            var bytes = [UInt8](try Samples.data("jpeg-scattered.jpg"))
            let scan = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xDA]) })
            bytes.insert(contentsOf: hiding, at: scan)
            let admitted = bytes.withUnsafeBytes { JPEGHeader.coefficientBytes(ByteReader($0)) }
            #expect(admitted > 0)
            let budget = DecodeBudget { 10 << 20 }
            let previewer = ImagePreviewer(sizing: .stored, budget: budget)
            _ = previewer.preview(of: Data(bytes.prefix(scan)))
            #expect(budget.used == 0)
            _ = previewer.preview(of: Data(bytes))
            #expect(budget.used >= admitted)
        }

        @Test("small previews of a progressive JPEG take all of its coefficients of the budget")
        func smallPreviews() throws {
            let data = try Samples.data("large-progressive.jpg")
            let budget = DecodeBudget { 20 << 20 }
            let previewer = ImagePreviewer(sizing: .maxPixelSize(60), budget: budget)
            #expect(previewer.preview(of: data) != nil)
            #expect(budget.used > data.withUnsafeBytes { JPEGHeader.coefficientBytes(ByteReader($0)) })
        }

        @Test(
            "an animation takes its canvas, what comes back and its largest frame of the budget, or is decoded smaller")
        func animations() throws {
            var data = try Samples.data("gif-disposal-3.gif")
            let frame = try #require(ImageHeader(data)).uprightSize
            data.replaceSubrange(6..<10, with: [0x90, 1, 0x90, 1])  // both sides of the canvas: 400
            let canvas = try #require(ImageHeader(data)).uprightSize
            let whole = try #require(FrameSources.source(of: data, sizing: .stored, limit: 4 << 20) as? ComposedFrames)
            #expect(whole.plan.output == canvas)
            // The canvas twice, as frames are taken away again, and an index for each pixel of a frame.
            let decoder = canvas.bytes * 2 + frame.area
            let half = DecodePlan(stored: canvas, orientation: .up, sizing: .maxPixelSize(canvas.width / 2))
            let limit = PictureAssembler.workingBytes(half, beside: decoder) + half.output.bytes
            let smaller = try #require(FrameSources.source(of: data, sizing: .stored, limit: limit) as? ComposedFrames)
            #expect(smaller.cost <= limit && smaller.plan.output.bytes < canvas.bytes)
            #expect {
                _ = try FrameSources.source(of: data, sizing: .stored, limit: decoder)
            } throws: {
                Self.isOver($0, decoder)
            }
        }

        @Test("animations that are held keep a canvas from frame to frame only where there is room, and give it back")
        func heldAnimations() throws {
            let data = try Samples.data("gif-disposal-1.gif")
            let expected = try AnimatedImage(data: data)
            let bytes = try #require(ImageHeader(data)).uprightSize.bytes
            let room = DecodeBudget { bytes }
            let source = try #require(FrameSources.source(of: data, sizing: .stored, room: room) as? ComposedFrames)
            var first: (any FrameMaker)? = try source.maker()
            let second = try source.maker()
            for index in 0..<4 {
                #expect(try first?.frame(at: index) == expected.frame(at: index))
                #expect(try second.frame(at: index) == expected.frame(at: index))
                #expect(room.used == bytes)
            }
            first = nil
            #expect(room.used == 0)
            #expect(try second.frame(at: 4) == expected.frame(at: 4))
            #expect(room.used == bytes)
        }

        /// The bytes of a budget that are taken each time `body` checks for cancellation.
        private func taken<T>(of budget: DecodeBudget, _ body: () throws -> T) rethrows -> Set<Int> {
            let seen = Locked(Set<Int>())
            let probe: @Sendable () -> Bool = {
                let used = budget.used
                seen.withLock { _ = $0.insert(used) }
                return false
            }
            _ = try ParseCancellation.with(probe, body)
            return seen.withLock { $0 }
        }

        @Test("while an image is decoded its cost is taken of the budget", arguments: Sample.files + TraitTests.decoded)
        func takenByImages(_ sample: Sample) throws {
            let budget = DecodeBudget { 1 << 30 }
            try sample.data().withUnsafeBytes { bytes in
                let decoding = try Decoding(ByteReader(bytes), sizing: .stored)
                #expect(try taken(of: budget) { try decoding.picture(budget) } == [decoding.cost])
            }
            #expect(budget.used == 0)
        }

        @Test("while a frame is made its cost is taken of the budget", arguments: SampleAnimation.all)
        func takenByFrames(_ sample: SampleAnimation) throws {
            let budget = DecodeBudget { 1 << 30 }
            let source = try #require(
                FrameSources.source(of: sample.data(), sizing: .stored, budget: budget) as? ComposedFrames)
            let maker = try source.maker()
            for index in source.durations.indices {
                #expect(try taken(of: budget) { try maker.frame(at: index) } == [source.cost])
            }
            #expect(budget.used == 0)
        }

        @Test("an image that does not move takes its cost of the budget as an animation, too")
        func takenByStills() throws {
            let budget = DecodeBudget { 1 << 30 }
            let data = try Samples.data("png-rgb-8.png")
            let maker = try FrameSources.source(of: data, sizing: .stored, budget: budget).maker()
            let cost = try data.withUnsafeBytes { try Decoding(ByteReader($0), sizing: .stored).cost }
            #expect(try taken(of: budget) { try maker.frame(at: 0) }.contains(cost))
        }

        @Test(
            "all that is there at the same time is counted, in bytes for each pixel that is stored",
            arguments: [
                ("large-baseline.jpg", .stored, 4),
                ("large-progressive.jpg", .stored, 4 + 3),  // coefficients of two bytes, of 4:2:0
                ("large-progressive.jpg", .maxPixelSize(300), 3),
                ("large-rows.png", .stored, 4),
                ("large-interlaced.png", .stored, 4 + 4),
                ("large-interlaced.png", .maxPixelSize(100), 4),
                ("large-lossy.webp", .stored, 4),
                ("large-lossy.webp", .maxPixelSize(100), 1.5),  // luma and chroma
                ("large-lossless.webp", .stored, 4 + 4),
                ("large-lossless.webp", .maxPixelSize(100), 4),
                ("detailed-lossy-alpha.webp", .stored, 4 + 1),
                ("large-frame.gif", .stored, 4 + 1),  // indices
                ("large-frame.gif", .maxPixelSize(100), 4 + 1),
                ("gif-disposal-1.gif", .stored, 4 + 1),
                ("apng-soft-keep-blend.png", .stored, 4 + 4),  // the canvas, and a frame to put on it
                ("webp-animated-lossy.webp", .stored, 4 + 4),
            ] as [(String, ImageSizing, Double)])
        func leastCost(_ file: String, _ sizing: ImageSizing, _ bytesPerPixel: Double) throws {
            try Samples.data(file).withUnsafeBytes { bytes in
                let decoding = try Decoding(ByteReader(bytes), sizing: sizing)
                let plan = decoding.plan
                let bytes = decoding.codec.workingBytes(ByteReader(bytes), plan: plan) + plan.output.bytes
                #expect(bytes >= Int(bytesPerPixel * Double(plan.stored.area)))
                #expect(decoding.cost >= bytes)
            }
        }

        @Test("limits that a program sets hold for all that is decoded in it")
        func settings() async {
            // In a process of its own, as they are the whole process's.
            await #expect(processExitsWith: .success) {
                let (png, jpeg) = try (Samples.data("png-rgb-8.png"), Samples.data("reduced-420.jpg"))
                ImageDecoding.maximumPixelCount = 31 * 23 - 1
                let error = ImageError.tooManyPixels(width: 31, height: 23, limit: 31 * 23 - 1)
                #expect(throws: error) { try ImageDecoding.image(from: png) }
                #expect(throws: error) { try AnimatedImage(data: png) }
                ImageDecoding.maximumPixelCount = 333 * 251
                #expect(try ImageDecoding.image(from: jpeg).width == 333)
                ImageDecoding.memoryBudget = 300_000
                #expect(try ImageDecoding.image(from: jpeg).width < 230)
                #expect(try AnimatedImage(data: jpeg).firstFrame.width < 230)
                let shares: [(DecodeBudget, Int)] = [(.shared, 300_000), (.previews, 75_000), (.animations, 75_000)]
                for (budget, share) in shares {
                    #expect(budget.used == 0)
                    #expect(budget.reserve(share + 1) == nil)
                    #expect(budget.reserve(share) != nil)
                }
            }
        }

        /// Whether an error says that a decode takes more than a budget.
        private static func isOver(_ error: any Error, _ budget: Int) -> Bool {
            guard case .overBudget(let bytes, budget) = error as? ImageError else { return false }
            return bytes > budget
        }

        @Test(
            "a decode that is limited by the budget takes no more than that, or is refused",
            arguments: Sample.files + TraitTests.decoded, [0.99, 0.8, 0.6, 0.3])
        func limited(_ sample: Sample, _ part: Double) throws {
            try sample.data().withUnsafeBytes { buffer in
                let bytes = ByteReader(buffer)
                let budget = Int(Double(try Decoding(bytes, sizing: .stored).cost) * part)
                do {
                    let decoding = try Decoding(bytes, sizing: .stored, budget: budget)
                    let plan = decoding.plan
                    let decoder = decoding.codec.workingBytes(bytes, plan: plan)
                    let cost = PictureAssembler.workingBytes(plan, beside: decoder) + plan.output.bytes
                    #expect(decoding.cost == cost && cost <= budget)
                } catch {
                    #expect(Self.isOver(error, budget))
                }
            }
        }

        @Test("a narrow picture that fits the budget is not refused")
        func narrow() throws {
            var file = PNGFile(size: PixelSize(width: 2, height: 1_000_000), colourType: 0)
            func plan(_ budget: Int) throws -> DecodePlan {
                try file.data.withUnsafeBytes { try Decoding(ByteReader($0), sizing: .stored, budget: budget).plan }
            }
            #expect(try plan(10 << 20).output == file.size)
            file.size = PixelSize(width: 20, height: 3_407_890)
            file.chunks = PNGFile.chunk("acTL", [0, 0, 0, 1, 0, 0, 0, 0])
            #expect(try plan(1 << 30).output == file.size)
            // Rounding the width up takes more than the budget at some of these.
            file.size = PixelSize(width: 200, height: 400_000)
            file.chunks = []
            for budget in stride(from: 100 << 20, to: 300 << 20, by: 10 << 20) { _ = try plan(budget) }
        }

        @Test("rows and weights of a picture that is wide beyond all measure are counted")
        func wide() throws {
            var png = try Samples.data("png-rgb-8.png")
            png.replaceSubrange(16..<24, with: [0x00, 0x89, 0x54, 0x40, 0, 0, 0, 11])  // 9,000,000 × 11
            try png.withUnsafeBytes { bytes in
                let decoding = try Decoding(ByteReader(bytes), sizing: .maxPixelSize(1_000_000), budget: 4 << 30)
                // A strip of sixteen rows, four more of libpng's, a row of floats, and the weights.
                #expect(decoding.cost > 9_000_000 * (64 + 16 + 16 + 24))
                #expect(throws: ImageError.self) {
                    _ = try Decoding(ByteReader(bytes), sizing: .stored, budget: 1 << 30)
                }
            }
        }

        @Test("a file whose decoder needs more than the budget at any size is an error")
        func overBudget() throws {
            let data = try Samples.data("reduced-progressive.jpg")
            #expect(throws: ImageError.self) {
                try data.withUnsafeBytes { _ = try Decoding(ByteReader($0), sizing: .stored, budget: 100_000) }
            }
            _ = try data.withUnsafeBytes { try Decoding(ByteReader($0), sizing: .stored, budget: 1_000_000).picture() }
        }
    }
#endif
