import Foundation
import TestTraits
import Testing

import Synchronizer

@testable import ImageCodecs
@testable import ImageResource

@Suite("ImageSizing", .bounded)
struct ImageSizingTests {
    @Test(
        "the size of what is decoded",
        arguments: [
            (ImageSizing.stored, (4000, 3000), (4000, 3000)),
            (.maxPixelSize(400), (4000, 3000), (400, 300)),
            (.maxPixelSize(400), (3000, 4000), (300, 400)),
            (.maxPixelSize(5000), (4000, 3000), (4000, 3000)),
            (.maxPixelSize(0), (4000, 3000), (4000, 3000)),
            (.maxPixelSize(-1), (4000, 3000), (4000, 3000)),
            (.maxPixelSize(10), (4000, 1), (10, 1)),
            (.space(CGSize(width: 100, height: 100), contentMode: .aspectFill, scale: 2), (4000, 3000), (267, 200)),
            (.space(CGSize(width: 100, height: 100), contentMode: .aspectFit, scale: 2), (4000, 3000), (200, 150)),
            (.space(CGSize(width: 9000, height: 10), contentMode: .aspectFill, scale: 1), (4000, 3000), (4000, 3000)),
            (.space(.zero, contentMode: .aspectFit, scale: 3), (40, 30), (40, 30)),
            (.space(CGSize(width: -5, height: 5), contentMode: .aspectFit, scale: 3), (40, 30), (40, 30)),
            (.space(CGSize(width: CGFloat.nan, height: 5), contentMode: .aspectFit, scale: 3), (40, 30), (40, 30)),
            (.space(CGSize(width: 20, height: 30), contentMode: .aspectFit, scale: 0), (40, 30), (20, 15)),
        ] as [(ImageSizing, (Int, Int), (Int, Int))])
    func size(_ sizing: ImageSizing, _ source: (Int, Int), _ result: (Int, Int)) {
        let size = sizing.size(for: PixelSize(width: source.0, height: source.1))
        #expect(size == PixelSize(width: result.0, height: result.1))
    }

    @Test("a space without extent keeps scale and filter")
    func withoutExtent() {
        let sizing = ImageSizing.space(.zero, scale: 3, filter: .lanczos)
        #expect(sizing.scale == 3 && sizing.filter == .lanczos)
        #expect(sizing != .stored)
    }

    @Test("different sizes of one URL have the same request and different variants")
    func variants() throws {
        let url = try #require(URL(string: "http://example.com/a.jpg"))
        let resources = [
            ImageResource(url: url), ImageResource(url: url, maxPixelSize: 100),
            ImageResource(url: url, maxPixelSize: 200),
            ImageResource(url: url, targetSize: CGSize(width: 50, height: 50), scale: 2),
            ImageResource(url: url, targetSize: CGSize(width: 50, height: 50), contentMode: .aspectFit, scale: 2),
            ImageResource(url: url, targetSize: CGSize(width: 100, height: 100), scale: 1),
            ImageResource(request: URLRequest(url: url), sizing: .maxPixelSize(100, filter: .lanczos)),
        ]
        #expect(Set(resources.map { $0.request() }).count == 1)
        #expect(Set(resources.map(\.variant)).count == resources.count)
        #expect(ImageResource(url: url, maxPixelSize: 100).variant == resources[1].variant)
    }
}
