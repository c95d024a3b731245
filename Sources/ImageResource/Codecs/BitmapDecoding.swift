#if !canImport(ImageIO)
    import Foundation
    import Synchronizer

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
            return try decode(bytes, format, DecodePlan(stored: size, orientation: header.orientation, sizing))
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
