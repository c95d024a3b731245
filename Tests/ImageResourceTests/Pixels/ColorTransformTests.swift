#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Colour profiles", .bounded)
    struct ColorTransformTests {
        @Test(
            "a profile of curves and a matrix is converted as Little CMS converts it",
            arguments: ["detailed-p3.jpg", "detailed-prophoto.jpg", "icc-rgb.jpg"])
        func matrix(_ file: String) throws {
            let profile = try #require(Samples.data(file).withUnsafeBytes { JPEGHeader.profile(ByteReader($0)) })
            try profile.withUnsafeBytes { profile in
                let fast = try #require(ColorTransform(ByteReader(profile), model: .rgb))
                let exact = try #require(ColorTransform(ByteReader(profile), model: .rgb, usesMatrix: false))
                #expect(fast.matrix != nil)
                #expect(exact.matrix == nil)
                var (one, other) = (Self.pixels, Self.pixels)
                fast.convert(&one, count: one.count / 4)
                exact.convert(&other, count: other.count / 4)
                let differences = zip(one, other).map { abs(Int($0) - Int($1)) }
                #expect(differences.max() ?? 0 <= 1)
                #expect(differences.reduce(0, +) < differences.count / 20)
            }
        }

        @Test("translucent pixels of a PNG are converted as precisely as opaque ones")
        func translucentPNG() throws {
            let opaque = try BitmapImage.decode(Samples.data("icc-rgb.png"))
            let image = try BitmapImage.decode(Samples.data("icc-rgba.png"))
            let expected = try opaque.buffer.copy()
            let (pixels, alpha) = (expected.base.assumingMemoryBound(to: UInt8.self), image.buffer.bytes)
            for index in stride(from: 3, to: alpha.count, by: 4) { pixels[index] = alpha[index] }
            try Premultiplication.multiply(expected)
            #expect(image == BitmapImage(expected, isOpaque: false))
        }

        /// A lattice of colours, with alphas that have to stay.
        private static let pixels: [UInt8] = {
            let steps = Array(stride(from: UInt8(0), through: 255, by: 5))
            return steps.flatMap { blue in
                steps.flatMap { green in steps.flatMap { red in [blue, green, red, blue ^ red] } }
            }
        }()
    }
#endif
