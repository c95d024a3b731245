#if !canImport(ImageIO)
    import Foundation

    extension BitmapImage {
        /// A smaller copy, by the filter of `sizing`, in the same aspect ratio. An image that is
        /// small enough already is returned as it is, with the scale of `sizing`.
        /// - Throws: ``ImageError/outOfMemory``, or `CancellationError` inside of a parse that is cancelled.
        public func resized(_ sizing: ImageSizing) throws -> BitmapImage {
            let plan = DecodePlan(stored: buffer.size, orientation: .up, sizing)
            guard plan.output != buffer.size else { return withScale(sizing.scale) }
            return try PictureAssembler.assemble(plan, buffer, isOpaque: isOpaque)
        }

        /// A copy of a part, in pixels from the top left; nil if no pixel of it lies inside of the image.
        public func cropped(x: Int, y: Int, width: Int, height: Int) -> BitmapImage? {
            let (left, top) = (max(0, x), max(0, y))
            let (right, bottom) = (min(self.width, Self.sum(x, width)), min(self.height, Self.sum(y, height)))
            guard left < right, top < bottom else { return nil }
            let size = PixelSize(width: right - left, height: bottom - top)
            guard let part = try? PixelBuffer(size) else { return nil }
            for row in 0..<size.height {
                part.row(row).copyMemory(from: buffer.row(top + row) + left * 4, byteCount: size.width * 4)
            }
            return BitmapImage(part, scale: scale, isOpaque: isOpaque)
        }

        private static func sum(_ one: Int, _ other: Int) -> Int {
            let (sum, overflow) = one.addingReportingOverflow(other)
            return overflow ? (other < 0 ? .min : .max) : sum
        }
    }
#endif
