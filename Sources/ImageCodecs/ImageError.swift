import Foundation

/// Why bytes did not become an image. Where a `Synchronizer` loads, it is the error inside of
/// `SynchronizerError.undecodable`.
public enum ImageError: Error, Sendable, Hashable {
    /// The bytes begin like no format that is known here.
    case unknownFormat
    /// The format is known, and this build has no decoder for it: on Linux AVIF, HEIC, JPEG XL and SVG need the
    /// package trait of their name.
    case unsupportedFormat(ImageFormat)
    /// The image has more pixels than the limit, ``ImageDecoding/maximumPixelCount``. It was not decoded.
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// The bytes are damaged or end too early; the text is the decoder's own.
    case damaged(ImageFormat, String)
    /// To decode it would take more bytes than all decodes together may take, ``ImageDecoding/memoryBudget``, at any
    /// size. It was not decoded.
    case overBudget(bytes: Int, limit: Int)
    /// The animation has no frame of that number.
    case noSuchFrame(Int)
    /// There is not enough memory for the pixels.
    case outOfMemory
}

extension ImageError: CustomStringConvertible, LocalizedError {
    /// What is wrong, for a person to read.
    public var description: String {
        switch self {
        case .unknownFormat: return "not an image of a known format"
        case .unsupportedFormat(let format): return "\(format.rawValue) is not decoded by this build"
        case .tooManyPixels(let width, let height, let limit):
            return "an image of \(width) × \(height) pixels, more than the limit of \(limit)"
        case .damaged(let format, let reason): return "a damaged \(format.rawValue) image: \(reason)"
        case .overBudget(let bytes, let limit): return "an image that takes \(bytes) bytes to decode, of \(limit)"
        case .noSuchFrame(let index): return "the animation has no frame \(index)"
        case .outOfMemory: return "not enough memory for the image"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
