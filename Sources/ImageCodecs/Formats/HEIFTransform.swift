/// Applies the transformative properties of a HEIF picture in their order (ISO/IEC 23008-12 §6.5.1).
struct HEIFTransform {
    private let stored: PixelSize
    /// The remaining part of the stored picture.
    private var area: PixelArea
    private(set) var orientation = ImageOrientation.up

    /// The remaining part of the stored picture; nil if that is all of it.
    var crop: PixelArea? { area.size == stored ? nil : area }

    init(_ stored: PixelSize) {
        self.stored = stored
        area = PixelArea(x: 0, y: 0, size: stored)
    }

    mutating func apply(_ property: Boxes.Box) {
        let content = property.content
        if property.has("irot"), let angle = content.byte(0) {
            for _ in 0..<angle & 3 { orientation = orientation.turnedLeft }
        } else if property.has("imir"), let axis = content.byte(0) {
            orientation = axis & 1 == 0 ? orientation.mirrored.turnedLeft.turnedLeft : orientation.mirrored
        } else if property.has("clap"), let kept = Self.cleanAperture(content, of: orientation.upright(area.size)) {
            area = part(kept)
        }
    }

    /// Converts a part of the picture as shown so far to a part of the stored picture.
    private func part(_ shown: PixelArea) -> PixelArea {
        var part = shown
        if orientation.swapsAxes {
            part = PixelArea(
                x: shown.y, y: shown.x, size: PixelSize(width: shown.size.height, height: shown.size.width))
        }
        if orientation.reversesX { part.x = area.size.width - part.x - part.size.width }
        if orientation.reversesY { part.y = area.size.height - part.y - part.size.height }
        return PixelArea(x: area.x + part.x, y: area.y + part.y, size: part.size)
    }

    /// The part that a `clap` box keeps (ISO/IEC 14496-12 §12.1.4). The box gives the size, and the distance of its centre
    /// from the picture's centre, as fractions. The result is rounded to whole pixels and cut to the picture. It is nil if
    /// no pixel is left or the box is invalid; the caller then ignores the box.
    private static func cleanAperture(_ box: ByteReader, of size: PixelSize) -> PixelArea? {
        let fractions = (0..<4).compactMap { fraction(box, at: $0 * 8) }
        guard fractions.count == 4, fractions[0] >= 1, fractions[1] >= 1 else { return nil }
        func side(_ length: Double, shift: Double, whole: Int) -> (start: Int, length: Int) {
            let start = (shift + (Double(whole) - length) / 2).rounded(.down)
            let low = min(max(start, 0), Double(whole))
            return (Int(low), Int(max(min(start + length.rounded(.down), Double(whole)) - low, 0)))
        }
        let (across, down) = (
            side(fractions[0], shift: fractions[2], whole: size.width),
            side(fractions[1], shift: fractions[3], whole: size.height)
        )
        guard across.length > 0, down.length > 0 else { return nil }
        return PixelArea(x: across.start, y: down.start, size: PixelSize(width: across.length, height: down.length))
    }

    /// A signed numerator and an unsigned denominator of four bytes each.
    private static func fraction(_ box: ByteReader, at offset: Int) -> Double? {
        guard let above = box.bigWord(offset), let below = box.bigWord(offset + 4), below > 0 else { return nil }
        return Double(Int32(bitPattern: above)) / Double(below)
    }
}
