import Foundation

/// The facts in the header of an image, which need no decoding of pixels.
public struct ImageHeader: Sendable, Hashable {
    /// The format, recognized by the bytes.
    public let format: ImageFormat
    /// The stored width in pixels. For an animation it is the width of the canvas, for a cropped HEIF picture the width of the
    /// visible part. For SVG it is in CSS pixels.
    public let pixelWidth: Int
    /// The stored height in pixels; see ``pixelWidth``.
    public let pixelHeight: Int
    /// How to turn the stored pixels upright.
    public let orientation: ImageOrientation
    /// The size that is decoded. The visible picture may be a part of it.
    let coded: PixelSize
    /// The visible part; nil if all of it is visible.
    let crop: PixelArea?

    /// Reads the header of an image. `data` may be the first bytes of a file. Returns nil if the format is unknown, or if
    /// the size is not in `data` or lies behind thousands of chunks or segments. Nothing is decoded, and no memory is allocated in
    /// proportion to the picture or the file. The call takes one or two microseconds, on the caller's thread.
    public init?(_ data: Data) {
        guard let header = data.withUnsafeBytes({ Self(ByteReader($0)) }) else { return nil }
        self = header
    }

    init?(_ bytes: ByteReader) {
        guard let format = ImageFormat(bytes), let facts = Self.facts(format, in: bytes) else { return nil }
        guard facts.width > 0, facts.height > 0 else { return nil }
        self.format = format
        pixelWidth = facts.crop?.size.width ?? facts.width
        pixelHeight = facts.crop?.size.height ?? facts.height
        coded = PixelSize(width: facts.width, height: facts.height)
        crop = facts.crop
        orientation = facts.orientation
    }

    private static func facts(_ format: ImageFormat, in bytes: ByteReader) -> HeaderFacts? {
        switch format {
        case .jpeg: return JPEGHeader.read(bytes)
        case .png: return PNGHeader.read(bytes)
        case .gif: return GIFHeader.read(bytes)
        case .webp: return WebPHeader.read(bytes)
        case .avif, .heic: return HEIFHeader.read(bytes)
        case .jpegXL: return JPEGXLHeader.read(bytes)
        case .svg: return SVGHeader.read(bytes)
        }
    }

    /// The size of the upright picture.
    var uprightSize: PixelSize {
        orientation.upright(PixelSize(width: pixelWidth, height: pixelHeight))
    }
}
