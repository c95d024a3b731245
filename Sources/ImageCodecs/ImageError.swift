import Foundation

/// Why bytes did not become an image. A `Synchronizer` wraps it in `SynchronizerError.undecodable`.
public enum ImageError: Error, Sendable, Hashable {
    /// The bytes do not begin like any known format.
    case unknownFormat
    /// This build has no decoder for the format. On Linux AVIF, HEIC, JPEG XL and SVG need the package trait of that name.
    case unsupportedFormat(ImageFormat)
    /// The image has more pixels than ``ImageDecoding/maximumPixelCount``. It was not decoded.
    case tooManyPixels(width: Int, height: Int, limit: Int)
    /// The bytes are corrupt or end too early. The text is the decoder's own.
    case corrupt(ImageFormat, String)
    /// Decoding the image would take more bytes at any size than ``ImageDecoding/memoryBudget``. It was not decoded.
    case overBudget(bytes: Int, limit: Int)
    /// The animation has no frame with that index.
    case noSuchFrame(Int)
    /// There is not enough memory for the pixels.
    case outOfMemory

    /// The old name of ``corrupt(_:_:)``. It makes and compares errors, but is no pattern with variables.
    @available(*, deprecated, renamed: "corrupt(_:_:)")
    public static func damaged(_ format: ImageFormat, _ reason: String) -> ImageError { .corrupt(format, reason) }
}

extension ImageError: CustomStringConvertible, LocalizedError {
    /// A description for people.
    public var description: String {
        switch self {
        case .unknownFormat: return "the image format is unknown"
        case .unsupportedFormat(let format): return "this build cannot decode \(format.rawValue)"
        case .tooManyPixels(let width, let height, let limit):
            return "the image has \(width) × \(height) pixels, more than the limit of \(limit)"
        case .corrupt(let format, let reason): return "the \(format.rawValue) image is corrupt: \(reason)"
        case .overBudget(let bytes, let limit):
            return "decoding the image takes \(bytes) bytes, more than the budget of \(limit)"
        case .noSuchFrame(let index): return "the animation has no frame \(index)"
        case .outOfMemory: return "not enough memory for the image"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
