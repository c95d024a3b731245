#if !canImport(ImageIO)
    import Foundation

    /// What a decoder is to make of an image.
    struct DecodePlan {
        /// The size as stored, of the part that is shown.
        let stored: PixelSize
        /// The size that is decoded, and the part of it that is shown where that is not all.
        let coded: PixelSize
        let crop: PixelArea?
        /// The size to come out with, before the picture is turned.
        private(set) var output: PixelSize
        let orientation: ImageOrientation
        let filter: ImageSizing.Filter
        /// Pixels a point of the image that is made.
        let scale: CGFloat

        init(_ header: ImageHeader, _ sizing: ImageSizing) {
            let size = PixelSize(width: header.pixelWidth, height: header.pixelHeight)
            self.init(
                stored: size, orientation: header.orientation, sizing, coded: header.coded, crop: header.crop)
        }

        init(
            stored: PixelSize, orientation: ImageOrientation, _ sizing: ImageSizing, coded: PixelSize? = nil,
            crop: PixelArea? = nil
        ) {
            self.stored = stored
            self.coded = coded ?? stored
            self.crop = crop
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
