import Foundation

/// What a decoder makes of an image.
struct DecodePlan {
    /// The stored size of the visible part.
    let stored: PixelSize
    /// The size that is decoded, and its visible part; nil if all of it is visible.
    let coded: PixelSize
    let crop: PixelArea?
    /// The size of the result before it is rotated.
    private(set) var output: PixelSize
    let orientation: ImageOrientation
    let filter: ImageSizing.Filter
    /// The number of pixels per point of the result.
    let scale: CGFloat

    init(_ header: ImageHeader, sizing: ImageSizing) {
        let size = PixelSize(width: header.pixelWidth, height: header.pixelHeight)
        self.init(
            stored: size, orientation: header.orientation, sizing: sizing, coded: header.coded, crop: header.crop)
    }

    init(
        stored: PixelSize, orientation: ImageOrientation, sizing: ImageSizing, coded: PixelSize? = nil,
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

    /// Scales a part of an upright picture.
    init(cropping crop: FillingCrop, filter: ImageSizing.Filter) {
        (stored, coded, self.crop, output) = (crop.area.size, crop.area.size, crop.area, crop.size)
        (orientation, self.filter, scale) = (.up, filter, 1)
    }

    /// The same plan, with a result small enough that it fits the budget together with the working memory.
    func limited(to budget: Int, beside working: Int) throws -> DecodePlan {
        guard let plan = limited(toBytes: budget - working) else {
            throw ImageError.overBudget(bytes: working, limit: budget)
        }
        return plan
    }

    /// The same plan with a result of at most `bytes` bytes; nil if they don't suffice for 16 × 16 pixels.
    private func limited(toBytes bytes: Int) -> DecodePlan? {
        guard output.bytes > bytes else { return self }
        guard bytes >= 16 * 16 * 4 else { return nil }
        var limited = self
        limited.output = output.scaled(by: (Double(bytes) / Double(output.bytes)).squareRoot() * 0.999)
        return limited.output.bytes <= bytes ? limited : nil
    }
}
