public import Foundation
import Synchronizer

/// An animation: GIF, APNG or WebP. Its frames are decoded when they are asked for; what it holds in memory is the file
/// and a frame or two, however many it has. Images of other kinds are animations of one frame.
///
/// ```swift
/// let index = animation.frameIndex(at: secondsSinceStart)
/// imageView.image = try animation.frame(at: index)
/// ```
///
/// It may be used from any thread. Frames in their order are the cheapest; going back costs the frames since the last
/// one that needs no other.
public final class AnimatedImage: Sendable {
    private struct State {
        /// What makes frames, unless a thread has it just now.
        var maker: (any FrameMaker)?
        var latest: (index: Int, image: PlatformImage)?
    }

    private let source: any FrameSource
    private let state = Locked(State())
    /// The frame that stands for the animation where it does not play.
    public let firstFrame: PlatformImage
    /// How long each frame is shown, in seconds. Times of 10 ms or less are 100 ms, as in browsers.
    public let durations: [TimeInterval]
    /// How often it plays; 0 is for ever.
    public var loopCount: Int { source.loopCount }
    /// The number of frames, at least 1.
    public var frameCount: Int { durations.count }
    /// How long it plays once, in seconds.
    public var duration: TimeInterval { ends.last ?? 0 }
    /// When each frame ends.
    private let ends: [TimeInterval]

    /// Reads an animation and decodes its first frame.
    /// - Parameters:
    ///   - data: The bytes of the file.
    ///   - sizing: The size at which frames are decoded.
    /// - Throws: ``ImageError``.
    public init(data: Data, sizing: ImageSizing = .stored) throws {
        let source = try FrameSources.source(of: data, sizing)
        let maker = try source.maker()
        firstFrame = try maker.frame(at: 0)
        durations = source.durations
        ends = durations.reduce(into: []) { $0.append(($0.last ?? 0) + $1) }
        self.source = source
        state.withLock { $0.maker = source.durations.count > 1 ? maker : nil }
    }

    /// A frame. Decoding it may take milliseconds: ask on a background thread, ahead of its time.
    /// - Throws: ``ImageError``; also ``ImageError/noSuchFrame(_:)`` for an index outside of the animation.
    public func frame(at index: Int) throws -> PlatformImage {
        guard durations.indices.contains(index) else { throw ImageError.noSuchFrame(index) }
        if index == 0 { return firstFrame }
        let (maker, known) = state.withLock { state in
            if let latest = state.latest, latest.index == index {
                return (nil as (any FrameMaker)?, latest.image as PlatformImage?)
            }
            defer { state.maker = nil }
            return (state.maker, nil)
        }
        if let known { return known }
        // The maker is lent, so that decoding holds no lock. A second thread makes one of its own.
        let lent = try maker ?? source.maker()
        let image = try lent.frame(at: index)
        state.withLock { state in
            state.maker = lent
            state.latest = (index, image)
        }
        return image
    }

    /// The frame to show, so many seconds after the start. When it has played as often as it should, it is the last.
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

    /// The bytes that it takes in memory.
    var byteCount: Int { source.byteCount + 2 * firstFrame.decodedByteCount }
}
