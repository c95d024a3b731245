import Foundation

extension ImageDecoding {
    /// Decodes an image, upright, on this thread. Of an animation it gives the first frame.
    ///
    /// It may wait for other decodes to end; see ``memoryBudget``.
    /// - Throws: ``ImageError``.
    public static func image(from data: Data, sizing: ImageSizing = .stored) throws -> PlatformImage {
        try PlatformImage.decode(data, sizing: sizing)
    }
}

#if !canImport(ImageIO)
    extension BitmapImage {
        /// Decodes an image of any format that this build decodes, at the size it is stored, upright; nil if that fails.
        /// ``decode(_:sizing:)`` says why.
        public convenience init?(data: Data) {
            guard let image = try? Self.decode(data) else { return nil }
            self.init(image.buffer, scale: image.scale, isOpaque: image.isOpaque)
        }
    }
#endif
