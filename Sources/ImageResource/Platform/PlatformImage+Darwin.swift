#if canImport(ImageIO)
    import CoreGraphics
    import Foundation
    import ImageCodecs

    extension PlatformImage {
        /// Decodes an image on this thread, upright. An animation gives its first frame.
        static func decode(_ data: Data, sizing: ImageSizing) throws -> PlatformImage {
            if data.isEmpty { throw ImageError.unknownFormat }
            let file = try ImageIOSource(data)
            return make(try file.picture(at: file.primary, sizing: sizing), scale: sizing.scale)
        }
    }

    extension CGImage {
        /// The bytes that the pixels take in memory. There may be more than four for each: of 16 bits, for example.
        var byteCount: Int { bytesPerRow * height }
    }
#endif
