/// A size in pixels.
struct PixelSize: Hashable, Sendable {
    var width: Int
    var height: Int

    /// The number of pixels; `Int.max` if that is too large to tell.
    var area: Int {
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : area
    }

    /// The bytes of a picture of four bytes a pixel; `Int.max` if that is too large to tell.
    var bytes: Int {
        let (bytes, overflow) = area.multipliedReportingOverflow(by: 4)
        return overflow ? .max : bytes
    }

    /// This size times a factor of at most 1: aspect kept, each side whole and at least 1.
    func scaled(by factor: Double) -> PixelSize {
        guard factor < 1 else { return self }
        func side(_ length: Int) -> Int { max(1, min(length, Int((Double(length) * factor).rounded()))) }
        return PixelSize(width: side(width), height: side(height))
    }
}
