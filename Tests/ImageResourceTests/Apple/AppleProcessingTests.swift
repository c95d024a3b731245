#if canImport(UIKit) || canImport(AppKit)
    import Foundation
    import ScriptedServer
    import Synchronizer
    import TestSupport
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    #if canImport(UIKit)
        import UIKit
    #else
        import AppKit
    #endif

    /// On Apple's systems with the real modules, on Linux with stubs of them: `Scripts/check-apple`.
    @Suite("Processing the platform's images", .bounded)
    @MainActor
    struct AppleProcessingTests {
        private static func picture(_ image: PlatformImage) throws -> CGImage {
            #if canImport(UIKit)
                try #require(image.cgImage)
            #else
                try #require(image.cgImage(forProposedRect: nil, context: nil, hints: nil))
            #endif
        }

        private func image(scale: CGFloat = 1) throws -> PlatformImage {
            PlatformImage.make(try Self.picture(ImageDecoding.image(from: AppleSamples.data())), scale: scale)
        }

        @Test("an image that was stored as pixels has the size, scale and pixels that it had")
        func stored() throws {
            let resource = ImageResource(request: URLRequest(url: URL(fileURLWithPath: "/")))
            for scale in [1.0, 2.0] {
                let image = try ImageProcessing.apply([.roundedCorners(4)], to: image(scale: scale))
                let data = try #require(try resource.encode(image))
                let stored = try resource.decode(data)
                #expect(stored.size == image.size)
                #expect(try resource.encode(stored) == data)
                #expect(throws: ImageError.unknownFormat) { try resource.decode(data.dropLast()) }
            }
        }

        @Test("sizes are in points, and the image keeps its scale")
        func sizes() throws {
            let space = CGSize(width: 5, height: 5)
            for (scale, side) in [(1.0, 5), (2.0, 10), (9.0, 23)] {
                let result = try ImageProcessing.apply([.cropToFill(space), .circle], to: image(scale: scale))
                let picture = try Self.picture(result)
                #expect(picture.width == side && picture.height == side)
                #expect(abs(result.size.width - CGFloat(side) / scale) < 1e-6)
            }
        }

        @Test("every processing gives an image of the size that it should have")
        func all() throws {
            let own = ImageProcessing(identifier: "own") { $0 }
            for processing in [
                ImageProcessing.roundedCorners(3), .border(.white, width: 1), .blur(radius: 2), .greyscale,
                .tint(.black), own,
            ] {
                let picture = try Self.picture(ImageProcessing.apply([processing, .greyscale], to: image()))
                #expect(picture.width == 31 && picture.height == 23)
            }
        }

        #if !canImport(Darwin)
            @Test("pixels are changed where the bitmap has them, and those of the given image stay")
            func pixels() throws {
                let image = try image()
                let picture = try Self.picture(
                    ImageProcessing.apply([.roundedCorners(8), .border(.white, width: 2)], to: image))
                #expect(picture.stubPixel(x: 0, y: 0) == [0, 0, 0, 0])
                #expect(picture.stubPixel(x: 15, y: 22) == [255, 255, 255, 255])
                #expect(picture.stubPixel(x: 15, y: 11) == [0x80, 0x80, 0x80, 0x80])
                #expect(try Self.picture(image).stubPixel(x: 0, y: 0) == [0x80, 0x80, 0x80, 0x80])
            }

            @Test("an image fades in, unless it was in memory")
            func fades() async throws {
                let bench = try Workbench()
                let synchronizer = bench.synchronizer(cacheTime: 3600)
                bench.server["/image"] = Reply(try AppleSamples.data(), status: 200, fields: [:])
                let frame = CGRect(x: 0, y: 0, width: 4, height: 4)
                let (first, second) = (PlatformImageView(frame: frame), PlatformImageView(frame: frame))
                for view in [first, second] {
                    view.loadImage(
                        bench.server.url("/image"), processing: [.cropToFill], transition: .fade(0.25),
                        synchronizer: synchronizer)
                    try await waitUntil("the image is shown") { view.image != nil }
                }
                #expect(first.stubFades == [0.25] && second.stubFades == [])
                #expect(first.image === second.image)
                let picture = try Self.picture(#require(first.image))
                #expect(picture.width == picture.height)
            }
        #endif

        @Test("colours of the platform are converted")
        func colours() throws {
            let space = try #require(CGColorSpace(name: CGColorSpace.sRGB))
            let color = try #require(CGColor(colorSpace: space, components: [1, 0.5, 0, 0.25]))
            #expect(ImageColor(color) == ImageColor(red: 1, green: 0.5, blue: 0, alpha: 0.25))
        }
    }
#endif
