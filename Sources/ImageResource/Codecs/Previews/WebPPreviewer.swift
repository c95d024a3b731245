#if !canImport(ImageIO)
    import Foundation

    /// A WebP as it arrives, from the top.
    final class WebPPreviewer: FormatPreviewer {
        private let plan: DecodePlan
        private let decoder: WebPDecoder
        private let isOpaque: Bool
        private let isMultiplied: Bool
        private var shownRows = 0

        /// Nil for what cannot be shown in part: animations, and pictures whose orientation comes at the end.
        init?(_ bytes: ByteReader, _ plan: DecodePlan) throws {
            guard !WebPHeader.isAnimated(bytes), !WebPHeader.hasExif(bytes) else { return nil }
            let size = WebPDecoder.intermediateSize(plan)
            self.plan = plan
            isOpaque = !WebPHeader.hasAlpha(bytes)
            isMultiplied = isOpaque || size != plan.stored
            decoder = try WebPDecoder(stored: plan.stored, size: size, isOpaque: isOpaque)
        }

        func preview(of bytes: ByteReader) throws -> BitmapImage? {
            try decoder.feed(bytes, pixels: plan.stored.area)
            guard decoder.rowsDone > shownRows else { return nil }
            shownRows = decoder.rowsDone
            let picture = try decoder.picture.copy()
            if !isMultiplied { try Premultiplication.multiply(picture) }
            let image = try PictureAssembler.assemble(plan, picture, isOpaque: false)
            try ColorTransform(WebPHeader.profile(bytes), .rgb)?.apply(to: image.buffer, isOpaque: isOpaque)
            return image
        }
    }
#endif
