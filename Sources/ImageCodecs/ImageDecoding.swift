import Foundation
import SynchronizerSupport

/// The limits for decoding images, for the whole process. You may change them at any time, on any thread. They apply to
/// decodes that begin afterwards.
public enum ImageDecoding {
    /// The largest number of stored pixels that an image may have. The default is 100 megapixels. A larger image fails with
    /// ``ImageError/tooManyPixels(width:height:limit:)`` before anything is allocated. Values are clamped to 0...2³².
    public static var maximumPixelCount: Int {
        get { limits.withLock { $0.pixels } }
        set { limits.withLock { $0.pixels = bounded(pixels: newValue) } }
    }

    /// The bytes that all decodes in flight may take together, for their pictures and for the decoders' working memory. The
    /// default is an eighth of the machine's memory, at least 128 MB and at most 1 GB. On Apple's systems, it is also at most a
    /// quarter of the memory that the system grants to the process, and may be less than 128 MB. Values are clamped to 0...2⁴⁸.
    ///
    /// A decode waits while too little is left. An image whose picture alone would exceed the budget is decoded at a
    /// smaller size. If the decoder's working memory exceeds it, the decode fails with
    /// ``ImageError/overBudget(bytes:limit:)``. Previews of images that are still arriving may take a quarter of the budget in
    /// addition, and so may the canvases that animations keep between frames. On Apple's systems, memory inside ImageIO is not
    /// counted.
    public static var memoryBudget: Int {
        get { limits.withLock { $0.bytes } }
        set { limits.withLock { $0.bytes = bounded(bytes: newValue) } }
    }

    // Calculations with these numbers don't overflow.
    static func bounded(pixels: Int) -> Int { min(max(pixels, 0), Int(clamping: Int64(1) << 32)) }
    static func bounded(bytes: Int) -> Int { min(max(bytes, 0), Int(clamping: Int64(1) << 48)) }

    private static let limits = Locked((pixels: 100_000_000, bytes: standardBudget))
}
