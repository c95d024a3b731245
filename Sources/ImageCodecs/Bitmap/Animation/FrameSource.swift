import Foundation

/// A file whose frames can be decoded.
package protocol FrameSource: Sendable {
    var durations: [TimeInterval] { get }
    var loopCount: Int { get }
    /// The bytes that the source and one maker take in memory.
    var byteCount: Int { get }

    func maker() throws -> any FrameMaker
}

/// Makes frames. A maker belongs to one thread at a time.
package protocol FrameMaker {
    func frame(at index: Int) throws -> BitmapImage
}
