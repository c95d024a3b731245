/// An image that is being processed. Some members are declared to throw only because those of the counterpart for Apple's
/// systems do.
package struct BitmapCanvas {
    private var buffer: PixelBuffer
    private var isOpaque: Bool
    /// The number of pixels per point.
    package let scale: Double

    package init(_ image: consuming BitmapImage) throws {
        (buffer, isOpaque, scale) = (image.buffer, image.isOpaque, Double(image.scale))
    }

    package var size: PixelSize { buffer.size }

    /// The image with the changes so far.
    package var image: BitmapImage {
        get throws { BitmapImage(buffer, scale: scale, isOpaque: isOpaque) }
    }

    /// Changes pixels: in place if no image shares them, otherwise in a copy.
    /// - Parameter staysOpaque: Whether opaque pixels remain opaque.
    package mutating func edit(staysOpaque: Bool = true, _ body: (PixelCanvas) throws -> Void) throws {
        if !isKnownUniquelyReferenced(&buffer) { buffer = try buffer.copy() }
        try body(PixelCanvas(base: buffer.base, size: buffer.size, bytesPerRow: buffer.bytesPerRow))
        isOpaque = isOpaque && staysOpaque
    }

    /// Replaces the picture by a part of it, at a size that is not larger.
    package mutating func crop(_ crop: FillingCrop, filter: ImageSizing.Filter) throws {
        guard crop.area.size != size || crop.size != size else { return }
        let plan = DecodePlan(cropping: crop, filter: filter)
        if crop.area.size != size, crop.area.size == crop.size {
            buffer = try buffer.part(crop.area)
        } else {
            buffer = try PictureAssembler.assemble(plan, whole: buffer, isOpaque: isOpaque).buffer
        }
    }
}
