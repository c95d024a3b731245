/// What happens to a frame's area before the next frame is drawn.
enum FrameDisposal: Hashable, Sendable {
    case keep
    /// The area becomes transparent, whatever background colour the file names. Browsers do the same.
    case clear
    /// The area is restored to what it was before the frame.
    case restore
}

/// A frame of an animation before it is decoded.
package struct AnimationFrame: Hashable, Sendable {
    var area: PixelArea
    /// In seconds.
    var duration: Double
    var disposal = FrameDisposal.keep
    /// Whether the frame replaces what is beneath it, instead of being blended with it.
    var replaces = false
    /// The bytes that decoding the frame takes in addition to the canvas.
    var workingBytes = 0

    /// The largest number of frames in an animation. Each takes memory, and a few bytes of a file can declare one.
    static let most = 1 << 17

    /// How long browsers show a frame with a given duration. If the file says 10 ms or less, they show it for 100 ms, because
    /// old browsers could not draw faster.
    package static func shownDuration(_ seconds: Double) -> Double {
        seconds > 0.0105 ? seconds : 0.1
    }
}
