internal import CWebP
import Foundation

/// Decodes WebP with libwebp to BGRA. libwebp can scale while it decodes.
final class WebPDecoder {
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
            // libwebp premultiplies lossless pictures before it scales them. Unscaled pictures are premultiplied here, with
            // rounding.
            config.output.colorspace = isScaled && !isOpaque ? MODE_bgrA : MODE_BGRA
            config.output.u.RGBA.rgba = picture.base.assumingMemoryBound(to: UInt8.self)
            config.output.u.RGBA.stride = Int32(clamping: picture.bytesPerRow)
            config.output.u.RGBA.size = size.bytes
        }
    }

    var rowsDone: Int { stream.rowsDone }

    /// Decodes the available data, given all bytes so far. Returns whether the picture is complete.
    @discardableResult
    func feed(_ bytes: ByteReader, pixels: Int) throws -> Bool {
        while try stream.step(bytes, pixels: pixels, owner: self) {}
        return stream.isComplete
    }
}

extension WebPDecoder {
    /// Decodes a still picture, premultiplied.
    static func picture(
        _ bytes: ByteReader, stored: PixelSize, scaledTo size: PixelSize? = nil
    ) throws -> PixelBuffer {
        let isOpaque = !WebPHeader.hasAlpha(bytes)
        let size = size ?? stored
        let decoder = try WebPDecoder(stored: stored, size: size, isOpaque: isOpaque)
        guard try decoder.feed(bytes, pixels: stored.area) else { throw truncated }
        try premultiply(decoder.picture, of: bytes, stored: stored, rows: size.height)
        return decoder.picture
    }

    /// Premultiplies a picture from libwebp in place, unless libwebp has done so while it scaled. If the header denies the alpha,
    /// makes the first `rows` rows opaque instead.
    static func premultiply(_ picture: PixelBuffer, of bytes: ByteReader, stored: PixelSize, rows: Int) throws {
        if WebPHeader.mayDenyAlpha(bytes) {
            try Premultiplication.removeAlpha(picture, rows: rows)
        } else if picture.size == stored, WebPHeader.hasAlpha(bytes) {
            try Premultiplication.multiply(picture)
        }
    }

    static let truncated = ImageError.corrupt(.webp, "the data ends too early")

    /// The size to which libwebp scales. libwebp scales luma and chroma separately, which is visible in coloured detail at small
    /// reductions. So it scales only if the result is much smaller, and then to twice the size of the result.
    ///
    /// Two kinds of pictures are decoded at full size. One is lossy pictures with alpha: libwebp scales their colours before
    /// it multiplies them with alpha, which would make invisible colours appear. The other is pictures whose profile changes
    /// tones.
    static func intermediateSize(_ bytes: ByteReader, plan: DecodePlan) -> PixelSize {
        if WebPHeader.hasAlpha(bytes), !WebPHeader.isLossless(bytes) { return plan.stored }
        if WebPHeader.profile(bytes).map(ColorTransform.effect) == .tones { return plan.stored }
        let size = PixelSize(width: plan.output.width * 2, height: plan.output.height * 2)
        return size.width * 5 <= plan.stored.width * 2 && size.height * 5 <= plan.stored.height * 2
            ? size : plan.stored
    }
}
