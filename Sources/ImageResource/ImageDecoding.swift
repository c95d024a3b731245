import Synchronizer

/// The limits within which images are decoded, for the whole process.
public enum ImageDecoding {
    /// The largest number of pixels that an image may have: 100 megapixels unless it is changed. One with more is the
    /// error ``ImageError/tooManyPixels(width:height:limit:)``, and nothing is allocated for it.
    public static var maximumPixelCount: Int {
        get { limits.withLock { $0.pixels } }
        set { limits.withLock { $0.pixels = newValue } }
    }

    private static let limits = Locked((pixels: 100_000_000, ()))
}
