#if !canImport(ImageIO)
    import Foundation
    import Synchronizer

    /// What a decoder is to make of an image.
    struct DecodePlan {
        /// The size as stored.
        let stored: PixelSize
        /// The size to come out with, before the picture is turned.
        let output: PixelSize
        let orientation: ImageOrientation
        /// Pixels a point of the image that is made.
        let scale: CGFloat

        init(_ header: ImageHeader, _ sizing: ImageSizing) {
            stored = PixelSize(width: header.pixelWidth, height: header.pixelHeight)
            orientation = header.orientation
            output = orientation.upright(sizing.size(for: orientation.upright(stored)))
            scale = sizing.scale
        }
    }

    extension BitmapImage {
        /// Decodes an image, upright, on this thread. Where it works for a load that is cancelled it throws
        /// `CancellationError` within some milliseconds; see `ParseCancellation`.
        ///
        /// - Throws: ``ImageError``.
        public static func decode(_ data: Data, sizing: ImageSizing = .stored) throws -> BitmapImage {
            try ParseCancellation.check()
            return try data.withUnsafeBytes { try decode(ByteReader($0), sizing) }
        }

        private static func decode(_ bytes: ByteReader, _ sizing: ImageSizing) throws -> BitmapImage {
            guard let format = ImageFormat(bytes) else { throw ImageError.unknownFormat }
            guard let header = ImageHeader(bytes) else { throw ImageError.damaged(format, "no size in its header") }
            let size = PixelSize(width: header.pixelWidth, height: header.pixelHeight)
            let limit = ImageDecoding.maximumPixelCount
            guard size.area <= limit else {
                throw ImageError.tooManyPixels(width: size.width, height: size.height, limit: limit)
            }
            return try decode(bytes, format, DecodePlan(header, sizing))
        }

        private static func decode(
            _ bytes: ByteReader, _ format: ImageFormat, _ plan: DecodePlan
        ) throws -> BitmapImage {
            switch format {
            case .jpeg: return try JPEGDecoder.decode(bytes, plan)
            case .png: return try PNGDecoder.decode(bytes, plan)
            default: throw ImageError.unsupportedFormat(format)
            }
        }
    }
#endif
