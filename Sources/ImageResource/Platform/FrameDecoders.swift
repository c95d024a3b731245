import Foundation

/// How a platform decodes the frames of an animation, and what is known about them before they are decoded.
struct FrameDecoders: Sendable {
    /// Decodes the frame with an index. A decoder belongs to one thread at a time.
    typealias Decoder = (_ index: Int) throws -> PlatformImage

    /// How long each frame is shown, in seconds.
    let durations: [TimeInterval]
    /// How often the animation plays; 0 means forever.
    let loopCount: Int
    /// The bytes that the file and one decoder take in memory.
    let byteCount: Int
    let makeDecoder: @Sendable () throws -> Decoder
}
