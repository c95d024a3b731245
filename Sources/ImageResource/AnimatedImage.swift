public import Foundation
public import ImageCodecs
import Synchronizer

/// An animation: GIF, APNG or WebP. It decodes frames when you ask for them, and holds the file and a frame or two in
/// memory, however many frames there are. An image of another format is an animation of one frame.
///
/// ```swift
/// let index = animation.frameIndex(at: secondsSinceStart)
/// imageView.image = try animation.frame(at: index)
/// ```
///
/// You can use it on any thread. It is cheapest to ask for the frames in order. If you go back to an earlier frame, all frames
/// since the nearest one that does not depend on others are decoded again.
public final class AnimatedImage: Sendable {
    private struct State {
        /// Nil while a thread uses it.
        var decoder: FrameDecoders.Decoder?
        var latest: (index: Int, image: PlatformImage)?
    }

    private let decoders: FrameDecoders
    private let state = Locked(State())
    /// The frame that represents the animation where it does not play.
    public let firstFrame: PlatformImage
    /// How long each frame is shown, in seconds. If the file says 10 ms or less, this is 100 ms, as in browsers.
    public let durations: [TimeInterval]
    /// How often the animation plays; 0 means forever.
    public var loopCount: Int { decoders.loopCount }
    /// The number of frames, at least 1.
    public var frameCount: Int { durations.count }
    /// How long the animation takes to play once, in seconds.
    public var duration: TimeInterval { ends.last ?? 0 }
    /// When each frame ends.
    private let ends: [TimeInterval]

    /// Reads an animation and decodes its first frame.
    /// - Parameters:
    ///   - data: The bytes of the file.
    ///   - sizing: The size at which frames are decoded.
    /// - Throws: ``ImageError``.
    public init(data: Data, sizing: ImageSizing = .stored) throws {
        let decoders = try FrameDecoders(data, sizing: sizing)
        let decoder = try decoders.makeDecoder()
        firstFrame = try decoder(0)
        durations = decoders.durations
        ends = durations.reduce(into: []) { $0.append(($0.last ?? 0) + $1) }
        self.decoders = decoders
        state.withLock { $0.decoder = decoders.durations.count > 1 ? decoder : nil }
    }

    /// Decodes a frame. This may take milliseconds, so call it on a background thread, ahead of time.
    /// - Throws: ``ImageError``, and ``ImageError/noSuchFrame(_:)`` if the index is out of range.
    public func frame(at index: Int) throws -> PlatformImage {
        guard durations.indices.contains(index) else { throw ImageError.noSuchFrame(index) }
        if index == 0 { return firstFrame }
        let (idle, known) = state.withLock { state in
            if let latest = state.latest, latest.index == index {
                return (nil as FrameDecoders.Decoder?, latest.image as PlatformImage?)
            }
            defer { state.decoder = nil }
            return (state.decoder, nil)
        }
        if let known { return known }
        // No lock is held while decoding: this thread takes the decoder, and a second thread makes its own.
        let decoder = try idle ?? decoders.makeDecoder()
        let image = try decoder(index)
        state.withLock { state in
            state.decoder = decoder
            state.latest = (index, image)
        }
        return image
    }

    /// Returns the index of the frame to show `time` seconds after the start. Once the animation has played `loopCount`
    /// times, that is the last frame.
    public func frameIndex(at time: TimeInterval) -> Int {
        guard duration > 0, time > 0, time.isFinite else { return 0 }
        if loopCount > 0, time >= duration * Double(loopCount) { return frameCount - 1 }
        let position = time.truncatingRemainder(dividingBy: duration)
        var (low, high) = (0, frameCount - 1)
        while low < high {
            let middle = (low + high) / 2
            if position < ends[middle] { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The bytes that the animation takes in memory.
    var byteCount: Int { decoders.byteCount + 2 * firstFrame.decodedByteCount }
}
