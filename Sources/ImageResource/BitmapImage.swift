#if !canImport(ImageIO)
    import Foundation

    /// An image as pixels in memory: what ``PlatformImage`` is where there is neither UIKit nor AppKit.
    ///
    /// The pixels are premultiplied BGRA, sRGB, 8 bits a channel, rows from the top one after the other without gaps:
    /// cairo's `ARGB32` on little-endian machines, GDK's `B8G8R8A8_PREMULTIPLIED`, Qt's `ARGB32_Premultiplied`. They
    /// never change and never move, so that whoever retains the image may use them in place, on any thread.
    public final class BitmapImage: Sendable {
        let buffer: PixelBuffer
        /// Pixels a point; 1 unless the image was made for a screen of another scale.
        public let scale: CGFloat
        /// Whether every pixel is known to be opaque, because the image it was made from has no alpha.
        public let isOpaque: Bool

        init(_ buffer: PixelBuffer, scale: CGFloat = 1, isOpaque: Bool) {
            self.buffer = buffer
            self.scale = scale
            self.isOpaque = isOpaque
        }

        /// An image whose pixels `fill` writes: premultiplied BGRA, rows without gaps, all zero (transparent) before it.
        /// Nil if a side is not positive, or there is not enough memory.
        /// - Parameters:
        ///   - width: The number of columns, in pixels.
        ///   - height: The number of rows, in pixels.
        ///   - scale: Pixels per point.
        ///   - isOpaque: A promise that `fill` gives every pixel the alpha 255.
        ///   - fill: Writes the pixels; called once, on this thread.
        public convenience init?(
            width: Int, height: Int, scale: CGFloat = 1, isOpaque: Bool = false,
            fill: (UnsafeMutableRawBufferPointer) throws -> Void
        ) rethrows {
            guard let buffer = try? PixelBuffer(PixelSize(width: width, height: height), cleared: true) else {
                return nil
            }
            try fill(UnsafeMutableRawBufferPointer(start: buffer.base, count: buffer.size.bytes))
            self.init(buffer, scale: scale.isFinite && scale > 0 ? scale : 1, isOpaque: isOpaque)
        }

        /// The width in pixels.
        public var width: Int { buffer.size.width }

        /// The height in pixels.
        public var height: Int { buffer.size.height }

        /// The bytes from the start of a row to the start of the next: four a pixel.
        public var bytesPerRow: Int { buffer.bytesPerRow }

        /// The size in points: pixels divided by ``scale``.
        public var size: CGSize { CGSize(width: CGFloat(width) / scale, height: CGFloat(height) / scale) }

        /// Calls `body` with the pixels. They stay where they are as long as the image lives: a caller that retains the
        /// image, as with `Unmanaged.passRetained`, may keep the pointer until it releases it.
        public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try withExtendedLifetime(self) { try body(buffer.bytes) }
        }

        /// The bytes that the pixels take in memory.
        var decodedByteCount: Int { buffer.size.bytes }

        /// The same pixels with another number of pixels a point. They are shared, not copied.
        public func withScale(_ scale: CGFloat) -> BitmapImage {
            BitmapImage(buffer, scale: scale.isFinite && scale > 0 ? scale : 1, isOpaque: isOpaque)
        }
    }

    /// Images are equal if their pixels are: size and bytes. The scale does not count.
    extension BitmapImage: Hashable {
        /// Whether size and pixels are the same.
        public static func == (one: BitmapImage, other: BitmapImage) -> Bool {
            one.buffer === other.buffer || one.buffer.hasSameBytes(as: other.buffer)
        }

        /// Takes in the size and some pixels, so that it costs the same for an image of any size.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(buffer.size)
            let bytes = buffer.bytes
            for offset in stride(from: 0, to: bytes.count, by: max(4, bytes.count / 64)) {
                hasher.combine(bytes[offset])
            }
        }
    }

    extension BitmapImage: CustomStringConvertible {
        /// Its size, for a person to read.
        public var description: String { "BitmapImage \(width) × \(height)\(scale == 1 ? "" : " @\(scale)x")" }
    }
#endif
