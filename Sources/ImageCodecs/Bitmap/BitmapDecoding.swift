import Foundation
import SynchronizerSupport

extension BitmapImage {
    /// Decodes an image at its stored size, upright. Returns nil if that fails; ``decode(_:sizing:)`` throws the reason.
    public convenience init?(data: Data) {
        guard let image = try? Self.decode(data) else { return nil }
        self.init(image.buffer, scale: image.scale, isOpaque: image.isOpaque)
    }

    /// Decodes an image on this thread, upright. An animation gives its first frame.
    ///
    /// If the call is part of a load, and the load is cancelled, it throws `CancellationError` within some milliseconds (see
    /// `ParseCancellation`). The call may wait for other decodes to end; see ``ImageDecoding/memoryBudget``.
    ///
    /// - Throws: ``ImageError``.
    public static func decode(_ data: Data, sizing: ImageSizing = .stored) throws -> BitmapImage {
        try data.withUnsafeBytes { try Decoding(ByteReader($0), sizing: sizing).picture() }
    }
}

/// A decode within the limits.
struct Decoding {
    let bytes: ByteReader
    let codec: any BitmapCodec.Type
    let plan: DecodePlan
    /// The bytes that the decode takes from ``DecodeBudget``.
    let cost: Int

    init(
        _ bytes: ByteReader, sizing: ImageSizing, pixels: Int = ImageDecoding.maximumPixelCount,
        budget: Int = ImageDecoding.memoryBudget
    ) throws {
        try ParseCancellation.check()
        guard let format = ImageFormat(bytes) else { throw ImageError.unknownFormat }
        guard let codec = Self.codec(format) else { throw ImageError.unsupportedFormat(format) }
        guard let header = ImageHeader(bytes) else { throw ImageError.corrupt(format, "no size in the header") }
        let size = header.coded
        let (pixels, budget) = (ImageDecoding.bounded(pixels: pixels), ImageDecoding.bounded(bytes: budget))
        guard size.area <= pixels else {
            throw ImageError.tooManyPixels(width: size.width, height: size.height, limit: pixels)
        }
        self.bytes = bytes
        self.codec = codec
        (plan, cost) = try DecodePlan(header, sizing: sizing)
            .limited(toSide: codec.longestSide).limited(to: budget) { codec.workingBytes(bytes, plan: $0) }
    }

    func picture(_ budget: DecodeBudget = .shared) throws -> BitmapImage {
        try budget.with(cost) { try codec.decode(bytes, plan: plan) }
    }

    private static func codec(_ format: ImageFormat) -> (any BitmapCodec.Type)? {
        switch format {
        case .jpeg: return JPEGDecoder.self
        case .png: return PNGCodec.self
        case .webp: return WebPCodec.self
        case .gif: return GIFDecoder.self
        case .avif, .heic, .jpegXL, .svg: return OptionalCodecs.codec(format)
        }
    }
}

/// Decodes images of one format.
protocol BitmapCodec {
    /// The bytes that a decode takes in addition to its picture, computed from headers alone.
    static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int

    static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage

    /// The longest side of a picture that the decoder can make. A larger image is decoded at this size.
    static var longestSide: Int { get }
}

extension BitmapCodec {
    static var longestSide: Int { .max }
}
