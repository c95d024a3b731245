#if !canImport(ImageIO)
    internal import CWebP
    import Foundation

    /// WebP by libwebp, as BGRA, which it can scale while it decodes.
    final class WebPDecoder: BitmapCodec {
        private let stream: WebPStream
        let picture: PixelBuffer

        /// - Parameters:
        ///   - stored: The size in the file.
        ///   - size: The size to scale to while decoding, at most `stored`.
        init(stored: PixelSize, size: PixelSize, isOpaque: Bool) throws {
            let picture = try PixelBuffer(size, cleared: true)
            self.picture = picture
            stream = try WebPStream { config in
                let isScaled = size != stored
                config.options.use_scaling = isScaled ? 1 : 0
                config.options.scaled_width = Int32(clamping: size.width)
                config.options.scaled_height = Int32(clamping: size.height)
                // Of lossless pictures libwebp multiplies colours with their alpha before it scales them; where it does not
                // scale it is done here, and rounded.
                config.output.colorspace = isScaled && !isOpaque ? MODE_bgrA : MODE_BGRA
                config.output.u.RGBA.rgba = picture.base.assumingMemoryBound(to: UInt8.self)
                config.output.u.RGBA.stride = Int32(clamping: picture.bytesPerRow)
                config.output.u.RGBA.size = size.bytes
            }
        }

        var rowsDone: Int { stream.rowsDone }

        /// Decodes what there is, given all bytes so far; true when that is all.
        @discardableResult
        func feed(_ bytes: ByteReader, pixels: Int) throws -> Bool {
            while try stream.step(bytes, pixels: pixels, owner: self) {}
            return stream.isComplete
        }
    }

    extension WebPDecoder {
        /// Lossless pictures are there as a whole, with a copy of their bytes, and the alpha of lossy ones.
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int {
            let strips = PixelSize(width: plan.stored.width, height: 64).bytes
            if WebPHeader.isAnimated(bytes) { return strips + 3 * plan.stored.bytes }
            let isLossless = WebPHeader.isLossless(bytes)
            let planes =
                (isLossless || WebPHeader.hasAlpha(bytes) ? plan.stored.bytes : 0)
                + (isLossless ? bytes.count : plan.stored.area)
            if WebPPlanes.suffices(bytes, plan) { return strips + planes + WebPPlanes.bytes(plan.stored) }
            let intermediate = intermediateSize(bytes, plan)
            return strips + planes + (intermediate == plan.output ? 0 : intermediate.bytes)
        }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            // What comes last may only be about the picture, and its absence not noticed.
            if WebPHeader.isTruncated(bytes) { throw truncated }
            if WebPHeader.isAnimated(bytes) {
                guard let animation = WebPAnimation(Data(bytes.bytes), limit: 1) else {
                    throw ImageError.damaged(.webp, "there is no frame")
                }
                return try animation.firstFrame(plan)
            }
            let colours = ColorTransform(WebPHeader.profile(bytes), .rgb)
            if let image = try WebPPlanes.decode(bytes, plan, colours) { return image }
            let picture = try picture(bytes, plan.stored, scaledTo: intermediateSize(bytes, plan))
            return try PictureAssembler.assemble(plan, picture, colours, isOpaque: !WebPHeader.hasAlpha(bytes))
        }

        /// A picture that is not animated, premultiplied.
        static func picture(
            _ bytes: ByteReader, _ stored: PixelSize, scaledTo size: PixelSize? = nil
        ) throws -> PixelBuffer {
            let isOpaque = !WebPHeader.hasAlpha(bytes)
            let size = size ?? stored
            let decoder = try WebPDecoder(stored: stored, size: size, isOpaque: isOpaque)
            guard try decoder.feed(bytes, pixels: stored.area) else { throw truncated }
            if !isOpaque, size == stored { try Premultiplication.multiply(decoder.picture) }
            return decoder.picture
        }

        static let truncated = ImageError.damaged(.webp, "the data end too early")

        /// libwebp scales luma and chroma each by itself, which shows in coloured detail where it scales by little: so it
        /// only does where the picture becomes much smaller, and to twice its size. Nor does it multiply the colours of a
        /// lossy picture with their alpha before, so that colours that are not seen would come to be: these it decodes whole.
        static func intermediateSize(_ bytes: ByteReader, _ plan: DecodePlan) -> PixelSize {
            if WebPHeader.hasAlpha(bytes), !WebPHeader.isLossless(bytes) { return plan.stored }
            if WebPHeader.profile(bytes).map(ColorTransform.effect) == .tones { return plan.stored }
            let size = PixelSize(width: plan.output.width * 2, height: plan.output.height * 2)
            return size.width * 5 <= plan.stored.width * 2 && size.height * 5 <= plan.stored.height * 2
                ? size : plan.stored
        }
    }
#endif
