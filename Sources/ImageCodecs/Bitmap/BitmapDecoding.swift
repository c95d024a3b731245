#if !canImport(ImageIO)
    import Foundation
    import Synchronizer

    /// Makes pictures of the bytes of one format.
    protocol BitmapCodec {
        /// The bytes that a decode takes beside its picture, from headers alone.
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage
    }

    extension BitmapImage {
        /// Decodes an image, upright, on this thread. Of an animation it gives the first frame.
        ///
        /// Where it works for a load that is cancelled it throws `CancellationError` within some milliseconds (see
        /// `ParseCancellation`). It may wait for other decodes to end; see ``ImageDecoding/memoryBudget``.
        ///
        /// - Throws: ``ImageError``.
        public static func decode(_ data: Data, sizing: ImageSizing = .stored) throws -> BitmapImage {
            try data.withUnsafeBytes { try Decoding(ByteReader($0), sizing).picture() }
        }
    }

    /// A decode within the limits.
    struct Decoding {
        let bytes: ByteReader
        let codec: any BitmapCodec.Type
        let plan: DecodePlan
        /// What it takes of ``DecodeBudget``.
        let cost: Int

        init(
            _ bytes: ByteReader, _ sizing: ImageSizing, pixels: Int = ImageDecoding.maximumPixelCount,
            budget: Int = ImageDecoding.memoryBudget
        ) throws {
            try ParseCancellation.check()
            guard let format = ImageFormat(bytes) else { throw ImageError.unknownFormat }
            guard let codec = Self.codec(format) else { throw ImageError.unsupportedFormat(format) }
            guard let header = ImageHeader(bytes) else { throw ImageError.damaged(format, "no size in its header") }
            let size = header.coded
            let (pixels, budget) = (ImageDecoding.bounded(pixels: pixels), ImageDecoding.bounded(bytes: budget))
            guard size.area <= pixels else {
                throw ImageError.tooManyPixels(width: size.width, height: size.height, limit: pixels)
            }
            let plan = DecodePlan(header, sizing)
            let working = PictureAssembler.workingBytes(plan, beside: codec.workingBytes(bytes, plan))
            let affordable = try plan.limited(to: budget, beside: working)
            self.bytes = bytes
            self.codec = codec
            self.plan = affordable
            cost = working + affordable.output.bytes
        }

        func picture(_ budget: DecodeBudget = .shared) throws -> BitmapImage {
            try budget.with(cost) { try codec.decode(bytes, plan) }
        }

        private static func codec(_ format: ImageFormat) -> (any BitmapCodec.Type)? {
            switch format {
            case .jpeg: return JPEGDecoder.self
            case .png: return PNGDecoder.self
            case .webp: return WebPDecoder.self
            case .gif: return GIFDecoder.self
            case .avif, .heic, .jpegXL, .svg: return OptionalCodecs.codec(format)
            }
        }
    }
#endif
