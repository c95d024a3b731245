import Foundation

extension BitmapImage {
    /// Returns a smaller copy with the same aspect ratio, made with the filter of `sizing`. If the image is small enough
    /// already, only the scale of `sizing` is applied.
    /// - Throws: ``ImageError/outOfMemory``, or `CancellationError` inside a cancelled parse.
    public func resized(_ sizing: ImageSizing) throws -> BitmapImage {
        let plan = DecodePlan(stored: buffer.size, orientation: .up, sizing: sizing)
        guard plan.output != buffer.size else { return withScale(sizing.scale) }
        return try PictureAssembler.assemble(plan, whole: buffer, isOpaque: isOpaque)
    }

    /// Returns a copy of a part, in pixels from the top left. The part is cut to the image. Returns nil if it lies outside the
    /// image or memory runs out.
    public func cropped(x: Int, y: Int, width: Int, height: Int) -> BitmapImage? {
        let (left, top) = (max(0, x), max(0, y))
        let (right, bottom) = (min(self.width, Self.sum(x, width)), min(self.height, Self.sum(y, height)))
        guard left < right, top < bottom else { return nil }
        let area = PixelArea(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
        guard let part = try? buffer.part(area) else { return nil }
        return BitmapImage(part, scale: scale, isOpaque: isOpaque)
    }

    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
