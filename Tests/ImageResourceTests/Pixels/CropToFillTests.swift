#if !canImport(ImageIO)
    import Foundation
    import TestTraits
    import Testing

    @testable import ImageCodecs
    @testable import ImageResource

    @Suite("Crop to fill", .bounded)
    struct CropToFillTests {
        private static func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

        private static let cases: [(picture: PixelSize, space: PixelSize, area: [Int], result: PixelSize)] = [
            (size(400, 300), size(400, 300), [0, 0, 400, 300], size(400, 300)),
            (size(400, 300), size(200, 200), [50, 0, 300, 300], size(200, 200)),
            (size(300, 400), size(200, 200), [0, 50, 300, 300], size(200, 200)),
            (size(400, 300), size(300, 300), [50, 0, 300, 300], size(300, 300)),
            // Smaller than the space: only the aspect ratio.
            (size(100, 50), size(200, 200), [25, 0, 50, 50], size(50, 50)),
            (size(100, 50), size(80, 200), [40, 0, 20, 50], size(20, 50)),
            (size(1, 1), size(200, 3), [0, 0, 1, 1], size(1, 1)),
            (size(1000, 1), size(1, 1000), [500, 0, 1, 1], size(1, 1)),
        ]

        @Test("the part is as large as possible, in the middle, and is never enlarged", arguments: cases)
        func parts(_ picture: PixelSize, _ space: PixelSize, _ area: [Int], _ result: PixelSize) {
            let crop = FillingCrop(of: picture, filling: space)
            #expect([crop.area.x, crop.area.y, crop.area.size.width, crop.area.size.height] == area)
            #expect(crop.size == result)
        }

        @Test("every part lies inside of its picture")
        func inside() {
            for (width, height) in [(1, 1), (3, 700), (640, 480), (4000, 7)] {
                for (across, down) in [(1, 1), (50, 3), (1, 900), (333, 334)] {
                    for focus in [-1, 0, 0.3, 1, 7, .nan, .infinity] {
                        let picture = Self.size(width, height)
                        let crop = FillingCrop(of: picture, filling: Self.size(across, down), focus: (focus, 1 - focus))
                        #expect(crop.area.inside(picture) == crop.area)
                        #expect(crop.size.width <= width && crop.size.height <= height)
                    }
                }
            }
        }

        @Test("a focus point comes to the middle, as far as the image goes")
        func focus() throws {
            let image = try BitmapImageTests.sample(100, 40)
            func part(_ focus: CGPoint) throws -> BitmapImage {
                try ImageProcessing.apply([.cropToFill(CGSize(width: 40, height: 40), focus: focus)], to: image)
            }
            func expected(_ x: Int) throws -> BitmapImage {
                try #require(image.cropped(x: x, y: 0, width: 40, height: 40))
            }
            #expect(try part(CGPoint(x: 0.5, y: 0.5)) == expected(30))
            #expect(try part(CGPoint(x: 0.4, y: 0)) == expected(20))
            #expect(try part(CGPoint(x: 0, y: 1)) == expected(0))
            #expect(try part(CGPoint(x: 0.9, y: 0.5)) == expected(60))
        }

        @Test("a crop that scales gives what cropping and resizing give")
        func scales() throws {
            let image = try BitmapImageTests.sample(200, 100)
            let result = try ImageProcessing.apply([.cropToFill(CGSize(width: 25, height: 25))], to: image)
            let square = try #require(image.cropped(x: 50, y: 0, width: 100, height: 100))
            #expect(try result == square.resized(.maxPixelSize(25)))
        }

        @Test("sizes are in points, and the image keeps its scale")
        func points() throws {
            let image = try BitmapImageTests.sample(200, 100).withScale(2)
            let result = try ImageProcessing.apply([.cropToFill(CGSize(width: 50, height: 50))], to: image)
            #expect(result.width == 100 && result.height == 100 && result.scale == 2)
            for empty in [CGSize.zero, CGSize(width: -1, height: 5), CGSize(width: Double.nan, height: 5)] {
                #expect(try ImageProcessing.apply([.cropToFill(empty)], to: image) == image)
            }
        }

        @Test("an image is decoded at the size that its first crop needs")
        func decoded() throws {
            let data = try Samples.data("large-baseline.jpg")  // 1500 × 1000
            let url = try #require(URL(string: "http://127.0.0.1/a"))
            func image(_ resource: ImageResource) throws -> (decoded: PixelSize, shown: PixelSize) {
                let shown = try resource.parse(data)
                return (resource.sizing.size(for: Self.size(1500, 1000)), Self.size(shown.width, shown.height))
            }
            let space = CGSize(width: 100, height: 100)
            let small = try image(ImageResource(url: url, processing: [.cropToFill(space)]))
            #expect(small.decoded == Self.size(150, 100) && small.shown == Self.size(100, 100))
            // In a view that fits images, too.
            let view = try image(
                ImageResource(
                    url: url, targetSize: space, contentMode: .aspectFit, scale: 2, processing: [.cropToFill]))
            #expect(view.decoded == Self.size(300, 200) && view.shown == Self.size(200, 200))
            // Another size that was asked for holds, and a later crop does not matter.
            let other = try image(ImageResource(url: url, maxPixelSize: 90, processing: [.cropToFill(space)]))
            #expect(other.decoded == Self.size(90, 60) && other.shown == Self.size(60, 60))
            let whole = try image(ImageResource(url: url, processing: [.greyscale, .cropToFill(space)]))
            #expect(whole.decoded == Self.size(1500, 1000) && whole.shown == Self.size(100, 100))
        }

        @Test("without a space, cropToFill leaves the image as it is")
        func noSpace() throws {
            let data = try Samples.data("large-baseline.jpg")
            let url = try #require(URL(string: "http://127.0.0.1/a"))
            let image = try ImageResource(url: url, maxPixelSize: 90, processing: [.cropToFill]).parse(data)
            #expect(try image == BitmapImage.decode(data, sizing: .maxPixelSize(90)))
        }
    }
#endif
