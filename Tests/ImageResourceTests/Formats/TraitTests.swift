#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    /// Formats behind package traits: their headers in every build, their pixels where the trait is on
    /// (`Scripts/check-traits`).
    @Suite("Formats behind traits", .bounded)
    struct TraitTests {
        static let samples: [Sample] = {
            let list = try? JSONDecoder().decode([Sample].self, from: Samples.data("optional.json"))
            return list ?? []
        }()

        /// Those that this build decodes.
        static let decoded = samples.filter { $0.format.map(enabled.contains) ?? false }

        static var enabled: Set<ImageFormat> {
            Set(ImageFormat.allCases.filter { OptionalCodecs.codec($0) != nil })
        }

        /// What `Scripts/check-traits` has asked for, by the names of the traits.
        static let demanded = (ProcessInfo.processInfo.environment["SYNCHRONIZER_TRAITS"] ?? "").split(separator: ",")

        @Test("a requested trait is on")
        func demandedTraits() {
            let names: [ImageFormat: Substring] = [.avif: "AVIF", .heic: "HEIC", .jpegXL: "JXL", .svg: "SVG"]
            for (format, name) in names where Self.demanded.contains(name) { #expect(Self.enabled.contains(format)) }
            // Valkey has tests of its own.
            #expect(Self.demanded.allSatisfy { names.values.contains($0) || $0 == "Valkey" })
        }

        @Test("the samples are there")
        func samplesAreThere() {
            #expect(Set(Self.samples.compactMap { ImageFormat.named(byExtension: $0.file) }).count == 4)
        }

        @Test("a header tells format and size in any build", arguments: samples)
        func header(_ sample: Sample) throws {
            let header = try #require(ImageHeader(sample.data()))
            #expect(header.format == ImageFormat.named(byExtension: sample.file))
            #expect(header.uprightSize == PixelSize(width: sample.width, height: sample.height))
        }

        @Test(
            "a header tells how a picture is turned and mirrored in HEIF, by each of its twelve ways",
            arguments: samples.filter { $0.file.hasPrefix("avif-turned") })
        func turned(_ sample: Sample) throws {
            let plain = try #require(Self.samples.first { $0.file == "avif-turned-0.avif" }).picture().buffer
            let orientation = try #require(ImageHeader(sample.data())).orientation
            let canvas = try UprightCanvas(stored: plain.size, orientation: orientation, cleared: false)
            canvas.put(plain.base, stride: plain.bytesPerRow, first: 0, count: plain.size.height)
            #expect(try canvas.buffer.hasSameBytes(as: sample.picture().buffer))
        }

        @Test(
            "an image decodes to what other decoders make of it, or says that this build does not", arguments: samples)
        func pixels(_ sample: Sample) throws {
            let format = try #require(ImageFormat.named(byExtension: sample.file))
            guard Self.enabled.contains(format) else {
                #expect(throws: ImageError.unsupportedFormat(format)) { try BitmapImage.decode(sample.data()) }
                return
            }
            let image = try BitmapImage.decode(sample.data())
            #expect(Pixels.decibels(image, try sample.picture()) >= sample.decibels ?? .infinity)
        }

        @Test("smaller sizes are made of them as of others", arguments: samples)
        func smaller(_ sample: Sample) throws {
            let format = try #require(ImageFormat.named(byExtension: sample.file))
            guard Self.enabled.contains(format) else { return }
            let image = try BitmapImage.decode(sample.data(), sizing: .maxPixelSize(16))
            let expected = try BitmapImage.decode(sample.data()).resized(.maxPixelSize(16))
            #expect(Pixels.decibels(image, expected) >= (format == .svg ? 30 : 50))
        }

        @Test(
            "five thousand corrupt images of each format are decoded or refused",
            arguments: ImageFormat.allCases.filter(enabled.contains))
        func mutations(_ format: ImageFormat) throws {
            let samples = try Self.decoded.filter { $0.format == format }.map { [UInt8](try $0.data()) }
            #expect(samples.allSatisfy { HostileBytesTests.decode($0, .stored) != nil })
            var mutator = Mutator(seed: 0x7A17)
            for turn in 0..<5_000 {
                let bytes = mutator.corrupted(samples[turn % samples.count])
                HostileBytesTests.decode(bytes, turn % 3 == 0 ? .maxPixelSize(1 + mutator.number(below: 12)) : .stored)
            }
        }

        @Test("cut off anywhere they are errors, and do no harm", arguments: samples)
        func truncated(_ sample: Sample) throws {
            let data = try sample.data()
            let format = try #require(ImageFormat.named(byExtension: sample.file))
            let whole = Self.enabled.contains(format) ? try BitmapImage.decode(data) : nil
            for percent in 0..<100 {
                // What does not matter to the picture may be missing at the end.
                let image = try? BitmapImage.decode(data.prefix(data.count * percent / 100))
                #expect(image == nil || image == whole, "at \(percent) %")
            }
        }
    }
#endif
