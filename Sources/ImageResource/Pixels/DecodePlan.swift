#if !canImport(ImageIO)
    import Foundation

    /// What a decoder is to make of an image.
    struct DecodePlan {
        /// The size as stored.
        let stored: PixelSize
        /// The size to come out with, before the picture is turned.
        private(set) var output: PixelSize
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

        /// The same with a picture that stays within a budget together with what is there beside it.
        func limited(to budget: Int, beside working: Int) throws -> DecodePlan {
            guard let plan = limited(toBytes: budget - working) else {
                throw ImageError.overBudget(bytes: working, limit: budget)
            }
            return plan
        }

        /// The same with a picture of at most that many bytes; nil if that is less than a picture of 16 pixels a side.
        private func limited(toBytes bytes: Int) -> DecodePlan? {
            guard output.bytes > bytes else { return self }
            guard bytes >= 16 * 16 * 4 else { return nil }
            var limited = self
            limited.output = output.scaled(by: (Double(bytes) / Double(output.bytes)).squareRoot() * 0.999)
            return limited.output.bytes <= bytes ? limited : nil
        }
    }
#endif
