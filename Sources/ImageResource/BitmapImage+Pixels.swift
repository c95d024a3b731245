#if !canImport(ImageIO)
    import Foundation

    extension BitmapImage {
        /// An image of pixels that a closure writes: premultiplied BGRA, rows from the top one after the other without
        /// gaps. They are transparent black to begin with.
        /// - Throws: ``ImageError/outOfMemory`` for a size that cannot be had, or what the closure throws.
        public convenience init(
            width: Int, height: Int, scale: CGFloat = 1, isOpaque: Bool = false,
            pixels: (UnsafeMutableRawBufferPointer) throws -> Void
        ) throws {
            guard width > 0, height > 0, !width.multipliedReportingOverflow(by: height).overflow else {
                throw ImageError.outOfMemory
            }
            let buffer = try PixelBuffer(PixelSize(width: width, height: height), cleared: true)
            try pixels(UnsafeMutableRawBufferPointer(start: buffer.base, count: buffer.size.bytes))
            self.init(buffer, scale: scale, isOpaque: isOpaque)
        }
    }
#endif
