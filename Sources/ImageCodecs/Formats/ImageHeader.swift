import Foundation

/// What an image says of itself before any pixel is decoded.
public struct ImageHeader: Sendable, Hashable {
    /// Its format, by its bytes.
    public let format: ImageFormat
    /// The size as stored, in pixels; for an animation that of its canvas, for SVG its size in CSS pixels. Of a HEIF picture
    /// that is cropped when it is shown it is the size of what is shown.
    public let pixelWidth: Int
    /// See ``pixelWidth``.
    public let pixelHeight: Int
    /// How the stored pixels are to be turned to stand upright.
    public let orientation: ImageOrientation
    /// The size that is decoded, of which the picture is a part.
    let coded: PixelSize
    /// The part of it that is shown, where that is not all.
    let crop: PixelArea?

    /// Reads the header of an image; nil if it is of no known format, or its size is not in the bytes given, which may be
    /// only the first of a file, or lies behind thousands of its parts. Nothing is decoded, and nothing allocated in
    /// proportion to the picture or the file; takes less than a microsecond, on the caller's thread.
    public init?(_ data: Data) {
        guard let header = data.withUnsafeBytes({ Self(ByteReader($0)) }) else { return nil }
        self = header
    }

    init?(_ bytes: ByteReader) {
        guard let format = ImageFormat(bytes), let facts = Self.facts(format, bytes) else { return nil }
        guard facts.width > 0, facts.height > 0 else { return nil }
        self.format = format
        pixelWidth = facts.crop?.size.width ?? facts.width
        pixelHeight = facts.crop?.size.height ?? facts.height
        coded = PixelSize(width: facts.width, height: facts.height)
        crop = facts.crop
        orientation = facts.orientation
    }

    private static func facts(_ format: ImageFormat, _ bytes: ByteReader) -> HeaderFacts? {
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

    /// The size as it is shown, upright.
    var uprightSize: PixelSize {
        orientation.upright(PixelSize(width: pixelWidth, height: pixelHeight))
    }
}

/// How far readers of headers go.
enum HeaderLimit {
    /// Of a file's chunks, boxes, segments or entries, at most so many are looked at. No picture has as many before what
    /// is looked for; a hostile file may have millions, of a few bytes each.
    static let parts = 4096
}

/// What a format's reader finds.
struct HeaderFacts: Equatable {
    var width: Int
    var height: Int
    var orientation = ImageOrientation.up
    /// The part that is shown, where that is not all.
    var crop: PixelArea?
}
