// What the storage tests use of ImageResource. The module itself is checked with the stubs of UIKit and AppKit.
import Foundation

struct ImageSizing: Hashable, Sendable {
    static func maxPixelSize(_ pixels: Int) -> ImageSizing { ImageSizing() }
}

struct ImageResource: Resource {
    let content: URLRequest

    init(url: URL, maxPixelSize: Int) { content = URLRequest(url: url) }
    init(request: URLRequest, sizing: ImageSizing) { content = request }

    func request() -> URLRequest { content }
    var parse: @Sendable (Data) throws -> Data { { $0 } }
    func encode(_ object: Data) throws -> Data? { object }
}
