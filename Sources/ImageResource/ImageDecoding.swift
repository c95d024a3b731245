import Foundation
import Synchronizer

/// The limits within which images are decoded, for the whole process. They may be changed at any time, on any thread,
/// and hold for the decodes that begin afterwards.
public enum ImageDecoding {
    /// The largest number of pixels that an image may have as it is stored: 100 megapixels unless it is changed. One
    /// with more is the error ``ImageError/tooManyPixels(width:height:limit:)``; nothing is allocated for it. It is never
    /// less than 0 nor more than 2³², whatever it is set to.
    public static var maximumPixelCount: Int {
        get { limits.withLock { $0.pixels } }
        set { limits.withLock { $0.pixels = bounded(pixels: newValue) } }
    }

    /// The bytes that all decodes under way may take together, for their pictures and what the decoders need beside
    /// them: an eighth of the machine's memory unless it is changed, at least 128 MB and at most 1 GB.
    ///
    /// A decode for which too little is left waits. An image whose picture would take more than all of it is decoded
    /// smaller, in its own aspect ratio; one for which even that is not enough is the error
    /// ``ImageError/overBudget(bytes:limit:)``. Previews of images that still arrive
    /// take at most a quarter more. On Apple's systems ImageIO's own needs are not counted. It is never less than 0 nor
    /// more than 2⁴⁸, whatever it is set to.
    public static var memoryBudget: Int {
        get { limits.withLock { $0.bytes } }
        set { limits.withLock { $0.bytes = bounded(bytes: newValue) } }
    }

    // Small enough that nothing that is reckoned with them overflows.
    static func bounded(pixels: Int) -> Int { min(max(pixels, 0), 1 << 32) }
    static func bounded(bytes: Int) -> Int { min(max(bytes, 0), 1 << 48) }

    private static let limits = Locked((pixels: 100_000_000, bytes: standardBudget))

    private static var standardBudget: Int {
        let eighth = Int(clamping: ProcessInfo.processInfo.physicalMemory / 8)
        return min(max(eighth, 128 << 20), 1 << 30)
    }
}
