/// The part of a picture that fills a space of another aspect ratio, and the size to which it is scaled. A picture is never
/// enlarged: if it is smaller than the space, the result only has the aspect ratio of the space.
package struct FillingCrop: Equatable {
    package let area: PixelArea
    package let size: PixelSize

    /// - Parameter focus: The point that comes as near to the middle as possible, from 0 to 1 across and down.
    package init(of picture: PixelSize, filling space: PixelSize, focus: (x: Double, y: Double) = (0.5, 0.5)) {
        let (width, height) = (Double(space.width), Double(space.height))
        let scale = max(width / Double(picture.width), height / Double(picture.height))
        func side(_ length: Double, of whole: Int) -> Int { min(max(Int((length / scale).rounded()), 1), whole) }
        let part = PixelSize(width: side(width, of: picture.width), height: side(height, of: picture.height))
        func start(focus: Double, length: Int, of whole: Int) -> Int {
            let focus = focus.isFinite ? focus.inUnit : 0.5
            return min(max(Int((focus * Double(whole) - Double(length) / 2).rounded()), 0), whole - length)
        }
        area = PixelArea(
            x: start(focus: focus.x, length: part.width, of: picture.width),
            y: start(focus: focus.y, length: part.height, of: picture.height),
            size: part)
        size = scale < 1 ? space : part
    }
}
