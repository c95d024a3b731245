#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("The right pixels", .bounded)
    struct RightPixelsTests {
        @Test("the samples are there")
        func samples() {
            #expect(Sample.all.count > 100)
        }

        @Test("an image decodes to what other decoders make of it", arguments: Sample.all)
        func pixels(_ sample: Sample) throws {
            let image = try BitmapImage.decode(sample.data(), sizing: sample.sizing)
            let expected = try sample.picture()
            #expect(image.width == expected.width && image.height == expected.height)
            #expect(Pixels.decibels(image, expected) >= sample.decibels ?? .infinity)
            if let opaque = sample.opaque { #expect(image.isOpaque == opaque) }
        }

        @Test("a picture that is turned goes into a space as it is shown", arguments: ImageOrientation.allCases)
        func turned(_ orientation: ImageOrientation) throws {
            let data = try Samples.data("jpeg-orientation-\(orientation.rawValue).jpg")
            let whole = try BitmapImage.decode(data)
            for mode in [ImageSizing.ContentMode.aspectFit, .aspectFill] {
                let sizing = ImageSizing.space(CGSize(width: 15, height: 6), contentMode: mode, scale: 2)
                let image = try BitmapImage.decode(data, sizing: sizing)
                #expect(try Pixels.decibels(image, whole.resized(sizing)) >= 50, "\(mode)")
            }
        }

        @Test("a header tells size and orientation without decoding", arguments: Sample.files)
        func header(_ sample: Sample) throws {
            let header = try #require(ImageHeader(sample.data()))
            let image = try BitmapImage.decode(sample.data())
            #expect(header.uprightSize == PixelSize(width: image.width, height: image.height))
            #expect(header.orientation.rawValue == sample.orientation ?? header.orientation.rawValue)
            #expect(header.format == ImageFormat.named(byExtension: sample.file))
        }
    }

    extension ImageFormat {
        static func named(byExtension file: String) -> ImageFormat? {
            let extensions: [String: ImageFormat] = [
                "jpg": .jpeg, "png": .png, "gif": .gif, "webp": .webp, "avif": .avif, "heic": .heic, "jxl": .jpegXL,
                "svg": .svg,
            ]
            return extensions[(file as NSString).pathExtension]
        }
    }
#endif
