#if !canImport(ImageIO)
    import Foundation
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Hostile bytes", .bounded)
    struct HostileBytesTests {
        /// The formats that are always decoded, with samples small enough to be decoded very often.
        enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case jpeg, progressiveJPEG, png, webp, gif, animation

            var testDescription: String { rawValue }

            var files: [String] {
                switch self {
                case .jpeg:
                    ["tiny-420.jpg", "tiny-restarts.jpg", "tiny-turned.jpg", "tiny-grey.jpg", "tiny-cmyk.jpg"]
                case .progressiveJPEG:
                    ["tiny-progressive.jpg", "tiny-cmyk-progressive.jpg", "tiny-scattered.jpg"]
                case .png:
                    [
                        "png-9x8-interlaced.png", "png-7x7-interlaced.png", "png-palette-alpha-4.png",
                        "png-rgb-key-16.png", "png-orientation-6.png",
                    ]
                case .webp: ["tiny-lossy.webp", "tiny-lossy-alpha.webp", "tiny-lossless.webp", "tiny-turned.webp"]
                case .gif: ["gif-two.gif", "gif-four.gif", "gif-interlaced-part.gif", "gif-plain.gif"]
                case .animation:
                    ["gif-parts.gif", "apng-hidden.png", "apng-hard-restore-blend.png", "webp-animated-lossless.webp"]
                }
            }

            func samples() throws -> [[UInt8]] { try files.map { [UInt8](try Samples.data($0)) } }
        }

        /// All that is made of an image, within small limits.
        @discardableResult
        static func decode(_ bytes: [UInt8], _ sizing: ImageSizing) -> BitmapImage? {
            bytes.withUnsafeBytes { buffer in
                let reader = ByteReader(buffer)
                _ = ImageHeader(reader)
                guard let decoding = try? Decoding(reader, sizing: sizing, pixels: 40_000, budget: 1 << 20) else {
                    return nil
                }
                #expect(decoding.cost <= 1 << 20)
                guard let image = try? decoding.picture(DecodeBudget { 1 << 20 }) else { return nil }
                #expect(image.width <= 40_000 && image.height <= 40_000 && image.width * image.height <= 40_000)
                return image
            }
        }

        /// The first frames, forwards and back again, within small limits.
        private func animate(_ bytes: [UInt8], _ sizing: ImageSizing) {
            let budget = DecodeBudget { 1 << 20 }
            let source = try? FrameSources.source(
                of: Data(bytes), sizing: sizing, limit: 1 << 20, budget: budget, room: DecodeBudget { 1 << 18 })
            guard let source, let maker = try? source.maker() else { return }
            for index in [0, 1, 2, 1] where index < source.durations.count {
                guard let image = try? maker.frame(at: index) else { continue }
                #expect(image.decodedByteCount <= 1 << 20)
            }
            #expect(budget.used == 0)
        }

        /// 5,000 of each format; in a soak ten times as many, in parts that run side by side.
        @Test(
            "corrupt images of each format are decoded or refused",
            arguments: Kind.allCases, 0..<Soak.count(1, inSoak: 10))
        func mutations(_ kind: Kind, part: Int) throws {
            let samples = try kind.samples()
            #expect(samples.allSatisfy { Self.decode($0, .stored) != nil })
            var mutator = Mutator(seed: 0x5EED + UInt64(part))
            for turn in 0..<5_000 {
                let bytes = mutator.corrupted(samples[turn % samples.count])
                let sizing = turn % 3 == 0 ? ImageSizing.maxPixelSize(1 + mutator.number(below: 12)) : .stored
                if kind == .animation, turn % 4 > 0 {
                    animate(bytes, sizing)
                } else {
                    Self.decode(bytes, sizing)
                }
            }
        }

        @Test("corrupt PNGs with correct checksums are decoded or refused")
        func checksums() throws {
            let samples = try Kind.png.samples()
            var mutator = Mutator(seed: 0xC4C)
            for turn in 0..<Soak.count(5_000, inSoak: 20_000) {
                let bytes = mutator.corrupted(samples[turn % samples.count])
                bytes.withUnsafeBytes { buffer in
                    guard let header = ImageHeader(ByteReader(buffer)) else { return }
                    let size = PixelSize(width: header.pixelWidth, height: header.pixelHeight)
                    guard size.area <= 40_000 else { return }
                    _ = try? PNGDecoder.picture(ByteReader(buffer), size: size, colours: nil)
                }
            }
        }

        @Test("corrupt colour profiles are used or ignored")
        func profiles() throws {
            let samples = try ["icc-rgb.png", "icc-rgb.jpg", "icc-grey.jpg", "icc-cmyk.jpg", "icc-rgb.webp"]
                .map { [UInt8](try Samples.data($0)) }
            var mutator = Mutator(seed: 0x1CC)
            for turn in 0..<Soak.count(400, inSoak: 2_000) {
                Self.decode(mutator.corrupted(samples[turn % samples.count]), .maxPixelSize(4))
            }
        }

        @Test("corrupt images have previews, or none", arguments: [Kind.jpeg, .progressiveJPEG, .webp])
        func previews(_ kind: Kind) throws {
            let samples = try kind.samples()
            var mutator = Mutator(seed: 0xF00D)
            for turn in 0..<Soak.count(1_000, inSoak: 3_000) {
                let bytes = Data(mutator.corrupted(samples[turn % samples.count]))
                guard ImageHeader(bytes).map({ $0.pixelWidth < 200 && $0.pixelHeight < 200 }) ?? true else { continue }
                let previewer = ImagePreviewer(sizing: .stored)
                for quarter in 1...4 { _ = previewer.preview(of: bytes.prefix(bytes.count * quarter / 4)) }
            }
        }

        @Test(
            "an image cut off at any hundredth is an error, or complete but for what does not matter",
            arguments: Sample.files.map(\.file) + SampleAnimation.all.map(\.file))
        func truncations(_ file: String) throws {
            let data = try Samples.data(file)
            let whole = try BitmapImage.decode(data)
            for percent in 0..<100 {
                let part = data.prefix(data.count * percent / 100)
                guard let image = try? BitmapImage.decode(part) else { continue }
                #expect(image == whole, "at \(percent) %")
            }
        }

        @Test("bytes of no format are an error that says so")
        func unknown() {
            var mutator = Mutator(seed: 3)
            for length in 0..<300 {
                let bytes = Data((0..<length).map { _ in UInt8(mutator.number(below: 256)) })
                #expect(throws: ImageError.unknownFormat) { try BitmapImage.decode(bytes) }
            }
        }
    }
#endif
