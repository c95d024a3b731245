#if canImport(ImageIO)
    import CoreGraphics
    import Foundation

    extension PlatformImage {
        /// Decodes an image, upright, on this thread. Of an animation it gives the first frame.
        static func decode(_ data: Data, sizing: ImageSizing) throws -> PlatformImage {
            if data.isEmpty { throw ImageError.unknownFormat }
            let file = try ImageIOSource(data)
            return make(try file.picture(at: file.primary, sizing), scale: sizing.scale)
        }
    }
#endif
