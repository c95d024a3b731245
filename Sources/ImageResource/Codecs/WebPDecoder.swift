#if !canImport(ImageIO)
    internal import CWebP
    import Foundation
    import Synchronizer

    /// WebP by libwebp, which scales while it decodes; fed in pieces, so that it can be left in between.
    final class WebPDecoder: BitmapCodec {
        /// How many pixels' worth of a file is fed at a time: some 3 ms of work, if all parts of the picture take as many
        /// bytes.
        private static let pixelsAtOnce = 250_000

        /// In a lossless file some parts are detailed and some flat, of which a kilobyte can be a megapixel and more.
        private static let losslessBytesAtOnce = 1024

        /// The decoder keeps pointers into it.
        private let config: UnsafeMutablePointer<WebPDecoderConfig>
        private let decoder: OpaquePointer
        /// How many bytes it has been given.
        private var fed = 0
        let picture: PixelBuffer

        /// - Parameters:
        ///   - stored: The size in the file.
        ///   - size: The size to scale to while decoding, at most `stored`.
        init(stored: PixelSize, size: PixelSize, isOpaque: Bool) throws {
            picture = try PixelBuffer(size, cleared: true)
            config = .allocate(capacity: 1)
            config.initialize(to: WebPDecoderConfig())
            Self.configure(&config.pointee, picture, isScaled: size != stored, isOpaque: isOpaque)
            guard let decoder = WebPIDecode(nil, 0, config) else {
                config.deallocate()
                throw ImageError.outOfMemory
            }
            self.decoder = decoder
        }

        private static func configure(
            _ config: inout WebPDecoderConfig, _ picture: PixelBuffer, isScaled: Bool, isOpaque: Bool
        ) {
            _ = WebPInitDecoderConfig(&config)
            config.options.use_scaling = isScaled ? 1 : 0
            config.options.scaled_width = Int32(clamping: picture.size.width)
            config.options.scaled_height = Int32(clamping: picture.size.height)
            // Colours have to be multiplied before they are scaled; otherwise it is done here, and rounded.
            config.output.colorspace = isScaled && !isOpaque ? MODE_bgrA : MODE_BGRA
            config.output.is_external_memory = 1
            config.output.u.RGBA.rgba = picture.base.assumingMemoryBound(to: UInt8.self)
            config.output.u.RGBA.stride = Int32(clamping: picture.bytesPerRow)
            config.output.u.RGBA.size = picture.size.bytes
        }

        deinit {
            WebPIDelete(decoder)
            WebPFreeDecBuffer(&config.pointee.output)
            config.deallocate()
        }

        /// Decodes what there is, given all bytes so far, which need not stay in place; true when that is all.
        private func update(_ bytes: ByteReader) throws -> Bool {
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            switch WebPIUpdate(decoder, address, bytes.count) {
            case VP8_STATUS_OK: return true
            case VP8_STATUS_SUSPENDED: return false
            case VP8_STATUS_OUT_OF_MEMORY: throw ImageError.outOfMemory
            case VP8_STATUS_UNSUPPORTED_FEATURE: throw ImageError.damaged(.webp, "an unknown feature")
            default: throw ImageError.damaged(.webp, "the bitstream makes no sense")
            }
        }

        /// The number of rows that are there, from the top.
        var rowsDone: Int {
            var (last, width, height, stride): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
            return WebPIDecGetRGB(decoder, &last, &width, &height, &stride) == nil ? 0 : Int(last)
        }
    }

    extension WebPDecoder {
        /// Lossless pictures are there as a whole, and the alpha of lossy ones.
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int {
            let strips = PixelSize(width: plan.stored.width, height: 64).bytes
            if WebPHeader.isAnimated(bytes) { return strips + 3 * plan.stored.bytes }
            let isLossless = WebPHeader.isLossless(bytes)
            let planes =
                (isLossless || WebPHeader.hasAlpha(bytes) ? plan.stored.bytes : 0)
                + (isLossless ? 0 : plan.stored.area)
            let intermediate = intermediateSize(plan)
            return strips + planes + (intermediate == plan.output ? 0 : intermediate.bytes)
        }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            // What comes last may only be about the picture, and its absence not noticed.
            if WebPHeader.isTruncated(bytes) { throw ImageError.damaged(.webp, "the data end too early") }
            if WebPHeader.isAnimated(bytes) {
                guard let animation = WebPAnimation(Data(bytes.bytes), limit: 1) else {
                    throw ImageError.damaged(.webp, "there is no frame")
                }
                return try animation.firstFrame(plan)
            }
            let picture = try picture(bytes, plan.stored, scaledTo: intermediateSize(plan))
            let isOpaque = !WebPHeader.hasAlpha(bytes)
            let image = try PictureAssembler.assemble(plan, picture, isOpaque: isOpaque)
            try ColorTransform(WebPHeader.profile(bytes), .rgb)?.apply(to: image.buffer, isOpaque: isOpaque)
            return image
        }

        /// A picture that is not animated, premultiplied.
        static func picture(
            _ bytes: ByteReader, _ stored: PixelSize, scaledTo size: PixelSize? = nil
        ) throws -> PixelBuffer {
            let isOpaque = !WebPHeader.hasAlpha(bytes)
            let size = size ?? stored
            let decoder = try WebPDecoder(stored: stored, size: size, isOpaque: isOpaque)
            guard try decoder.feed(bytes, pixels: stored.area) else {
                throw ImageError.damaged(.webp, "the data end too early")
            }
            if !isOpaque, size == stored { try Premultiplication.multiply(decoder.picture) }
            return decoder.picture
        }

        /// libwebp scales luma and chroma each by itself, which shows in coloured detail where it scales by little: so it
        /// only does where the picture becomes much smaller, and to twice its size.
        static func intermediateSize(_ plan: DecodePlan) -> PixelSize {
            let size = PixelSize(width: plan.output.width * 2, height: plan.output.height * 2)
            return size.width * 5 <= plan.stored.width * 2 && size.height * 5 <= plan.stored.height * 2
                ? size : plan.stored
        }

        /// Decodes what there is, a piece at a time; true when that is all.
        @discardableResult
        func feed(_ bytes: ByteReader, pixels: Int) throws -> Bool {
            let share = max(1, bytes.count / max(1, pixels / Self.pixelsAtOnce))
            let piece = WebPHeader.isLossless(bytes) ? min(share, Self.losslessBytesAtOnce) : share
            while fed < bytes.count {
                try ParseCancellation.check()
                fed = min(fed + piece, bytes.count)
                if let part = bytes.part(from: 0, count: fed), try update(part) { return true }
            }
            return false
        }
    }
#endif
