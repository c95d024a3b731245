import Foundation

/// Decodes WebP: a still image, or the first frame of an animation.
enum WebPCodec: BitmapCodec {
    /// A lossless picture is in memory completely, with a copy of its bytes. So is the alpha of a lossy one.
    static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int {
        let strips = PixelSize(width: plan.stored.width, height: 64).bytes
        if WebPHeader.isAnimated(bytes) { return strips + 3 * plan.stored.bytes }
        let isLossless = WebPHeader.isLossless(bytes)
        let planes =
            (isLossless || WebPHeader.hasAlpha(bytes) || WebPHeader.mayDenyAlpha(bytes) ? plan.stored.bytes : 0)
            + (isLossless ? bytes.count : plan.stored.area)
        if WebPPlanes.suffices(bytes, plan: plan) { return strips + planes + WebPPlanes.bytes(plan.stored) }
        let intermediate = WebPDecoder.intermediateSize(bytes, plan: plan)
        let isResult = intermediate == plan.output && plan.orientation == .up
        return strips + planes + (isResult ? 0 : intermediate.bytes)
    }

    static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
        // The last chunks may be metadata whose absence libwebp does not notice.
        if WebPHeader.isTruncated(bytes) { throw WebPDecoder.truncated }
        if WebPHeader.isAnimated(bytes) {
            guard let animation = WebPAnimation(Data(bytes.bytes), limit: 1) else {
                throw ImageError.corrupt(.webp, "no frame")
            }
            return try animation.firstFrame(plan)
        }
        let colours = ColorTransform(WebPHeader.profile(bytes), model: .rgb)
        if let image = try WebPPlanes.decode(bytes, plan: plan, colours: colours) { return image }
        let intermediate = WebPDecoder.intermediateSize(bytes, plan: plan)
        let picture = try WebPDecoder.picture(bytes, stored: plan.stored, scaledTo: intermediate)
        return try PictureAssembler.assemble(
            plan, whole: picture, colours: colours, isOpaque: !WebPHeader.hasAlpha(bytes))
    }
}
