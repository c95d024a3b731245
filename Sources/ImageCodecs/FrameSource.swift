import Foundation

/// What a platform knows of an animation.
protocol FrameSource: Sendable {
    var durations: [TimeInterval] { get }
    var loopCount: Int { get }
    /// The bytes that the source and one maker take in memory.
    var byteCount: Int { get }

    func maker() throws -> any FrameMaker
}

/// Makes frames, on one thread at a time.
protocol FrameMaker {
    func frame(at index: Int) throws -> PlatformImage
}
