/// A size in pixels.
package struct PixelSize: Hashable, Sendable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The number of pixels; `Int.max` on overflow.
    package var area: Int {
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : area
    }

    /// The bytes of a picture with four bytes per pixel; `Int.max` on overflow.
    package var bytes: Int {
        let (bytes, overflow) = area.multipliedReportingOverflow(by: 4)
        return overflow ? .max : bytes
    }

    /// This size times a factor; a factor above 1 counts as 1. The result keeps the aspect ratio, rounded to whole pixels; each
    /// side is at least 1.
    package func scaled(by factor: Double) -> PixelSize {
        guard factor < 1 else { return self }
        func side(_ length: Int) -> Int { max(1, min(length, Int((Double(length) * factor).rounded()))) }
        return PixelSize(width: side(width), height: side(height))
    }
}

/// A rectangular part of a picture.
package struct PixelArea: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package var size: PixelSize

    /// The part that lies inside a canvas; nil if there is none.
    func inside(_ canvas: PixelSize) -> PixelArea? {
        let (left, top) = (max(x, 0), max(y, 0))
        let (right, bottom) = (min(x + size.width, canvas.width), min(y + size.height, canvas.height))
        guard left < right, top < bottom else { return nil }
        return PixelArea(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }
}
