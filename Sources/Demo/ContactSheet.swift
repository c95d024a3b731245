import Foundation
import ImageResource
import Synchronizer

/// All images of the demo in one picture, eight in a row.
struct ContactSheet {
    /// The side of an image, in pixels.
    static let side = 160
    static let margin = 12
    static let columns = 8

    /// An image that fills its square. The parts outside of the square are cropped, and kept neither in memory nor on disk.
    static func resource(_ request: URLRequest) -> ImageResource {
        let square = CGSize(width: side, height: side)
        return ImageResource(
            request: request, sizing: .space(square, contentMode: .aspectFill, scale: 1), processing: [.cropToFill])
    }

    let images: [PlatformImage]

    init(_ images: [PlatformImage]) {
        self.images = images
    }

    var width: Int { Self.margin + Self.columns * (Self.side + Self.margin) }

    var height: Int { Self.margin + (images.count + Self.columns - 1) / Self.columns * (Self.side + Self.margin) }

    /// The upper left corner of an image's square, in pixels.
    func corner(of index: Int) -> (x: Int, y: Int) {
        let step = Self.side + Self.margin
        return (Self.margin + index % Self.columns * step, Self.margin + index / Self.columns * step)
    }
}
