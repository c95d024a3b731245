/// A part of a picture.
struct PixelArea: Hashable, Sendable {
    var x: Int
    var y: Int
    var size: PixelSize

    /// The part of it that lies inside of a canvas; nil if there is none.
    func inside(_ canvas: PixelSize) -> PixelArea? {
        let (left, top) = (max(x, 0), max(y, 0))
        let (right, bottom) = (min(x + size.width, canvas.width), min(y + size.height, canvas.height))
        guard left < right, top < bottom else { return nil }
        return PixelArea(x: left, y: top, size: PixelSize(width: right - left, height: bottom - top))
    }
}

/// What becomes of a frame's area before the next frame is drawn.
enum FrameDisposal: Hashable, Sendable {
    case keep
    /// Made transparent, as browsers do, whatever background colour the file names.
    case clear
    /// As it was before the frame.
    case restore
}

/// What is known of a frame of an animation before it is decoded.
struct AnimationFrame: Hashable, Sendable {
    var area: PixelArea
    /// In seconds.
    var duration: Double
    var disposal = FrameDisposal.keep
    /// Whether it takes the place of what is beneath it in its area, instead of being blended with it.
    var replaces = false
    /// What decoding it takes, in bytes, beside the canvas.
    var workingBytes = 0

    /// The number of frames that an animation may have. Each is noted, while some bytes of the file can make one.
    static let most = 1 << 17

    /// How long browsers show a frame whose file gives it so many seconds: those of 10 ms or less, which no old
    /// browser could show in time, take 100 ms.
    static func shownDuration(_ seconds: Double) -> Double {
        seconds > 0.0105 ? seconds : 0.1
    }
}
