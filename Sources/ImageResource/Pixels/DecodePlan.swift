#if !canImport(ImageIO)
    import Foundation

    /// What a decoder is to make of an image.
    struct DecodePlan {
        /// The size as stored.
        let stored: PixelSize
        /// The size to come out with, before the picture is turned.
        let output: PixelSize
        let orientation: ImageOrientation
        let filter: ImageSizing.Filter
        /// Pixels a point of the image that is made.
        let scale: CGFloat

        init(stored: PixelSize, orientation: ImageOrientation, _ sizing: ImageSizing) {
            self.stored = stored
            self.orientation = orientation
            output = orientation.upright(sizing.size(for: orientation.upright(stored)))
            filter = sizing.filter
            scale = sizing.scale
        }
    }
#endif
