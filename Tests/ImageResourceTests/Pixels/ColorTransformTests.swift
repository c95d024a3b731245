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

        @Test("code points of a PNG take precedence over its profile, unless they are not converted")
        func codePoints() throws {
            func decoded(_ file: String, _ points: [UInt8]?) throws -> BitmapImage {
                var data = try Samples.data(file)
                if let points { data.insert(contentsOf: PNGFile.chunk("cICP", points), at: 33) }  // after the header
                return try BitmapImage.decode(data)
            }
            let plain = try decoded("png-rgb-8.png", nil)
            let converted = BitmapImage(try plain.buffer.copy(), isOpaque: true)
            let displayP3 = try #require(ColorTransform.from(ColorCodePoints(primaries: 12, transfer: 13)))
            try displayP3.apply(to: converted.buffer, isOpaque: true)
            #expect(converted != plain)
            #expect(try decoded("png-rgb-8.png", [12, 13, 0, 1]) == converted)
            // sRGB; numbers for YCbCr; PQ
            for points in [[1, 13, 0, 1], [12, 13, 1, 1], [9, 16, 0, 1]] as [[UInt8]] {
                #expect(try decoded("png-rgb-8.png", points) == plain)
            }
            let profile = try decoded("detailed-p3.png", nil)
            #expect(try decoded("detailed-p3.png", [1, 13, 0, 1]) != profile)
            #expect(try decoded("detailed-p3.png", [9, 16, 0, 1]) == profile)
        }

        @Test("dark greys of linear light are converted to the nearest value")
        func linearGrey() throws {
            let transform = try Self.linearGreyProfile.withUnsafeBytes {
                try #require(ColorTransform(ByteReader($0), model: .grey))
            }
            var greys = (0...255).map { UInt32($0) * 0x01_0101 }
            transform.convert(&greys, count: greys.count)
            for (grey, found) in greys.enumerated() {
                let light = Double(grey) / 255
                let expected = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
                #expect(abs(Double(found & 0xFF) - expected * 255) < 0.8, "\(grey)")
            }
        }

        /// A profile of one curve, which has no entries and so is linear (ICC.1 §7.2, §10.6).
        private static let linearGreyProfile: [UInt8] = {
            var header = [UInt8](repeating: 0, count: 128)
            for (offset, text) in [(12, "mntrGRAYXYZ "), (36, "acsp")] {
                header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
            }
            header.replaceSubrange(8..<10, with: [2, 0x40])
            header.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
            let tags = HEIFFile.big32(1) + Array("kTRC".utf8) + HEIFFile.big32(144) + HEIFFile.big32(12)
            let profile = header + tags + Array("curv".utf8) + [UInt8](repeating: 0, count: 8)
            return HEIFFile.big32(profile.count) + profile.dropFirst(4)
        }()

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
