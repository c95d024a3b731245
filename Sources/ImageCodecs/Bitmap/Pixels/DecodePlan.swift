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

    /// The same plan with a result whose sides have at most `longest` pixels.
    func limited(toSide longest: Int) -> DecodePlan {
        var plan = self
        plan.output = output.scaled(by: Double(longest) / Double(max(output.width, output.height)))
        return plan
    }

    /// The same plan with a result small enough that the whole decode fits the budget, and the bytes that it takes then.
    /// - Parameter decoder: The bytes that the decoder takes for a plan, in addition to the picture.
    func limited(
        to budget: Int, beside decoder: (DecodePlan) -> Int
    ) throws -> (plan: DecodePlan, cost: Int) {
        var (plan, factor) = (self, 1.0)
        while true {
            let working = PictureAssembler.workingBytes(plan, beside: decoder(plan))
            let (room, bytes) = (budget - working, plan.output.bytes)
            if bytes <= room { return (plan, working + bytes) }
            guard plan.output.area > Self.smallestArea else {
                throw ImageError.overBudget(bytes: working > .max - bytes ? .max : working + bytes, limit: budget)
            }
            // A smaller result may take more or less working memory, and its sides are rounded. So this takes several steps.
            factor *= room > 0 ? max(0.5, (Double(room) / Double(bytes)).squareRoot() * 0.999) : 0.5
            plan.output = output.scaled(by: factor)
        }
    }

    /// Results with fewer pixels would hardly take less memory.
    private static let smallestArea = 16 * 16
}
