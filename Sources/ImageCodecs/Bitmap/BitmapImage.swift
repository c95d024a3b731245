import Foundation

/// An image as pixels in memory. It is the ``PlatformImage`` where there is neither UIKit nor AppKit.
///
/// The pixels are premultiplied BGRA in sRGB with 8 bits per channel. Rows run from the top, without gaps: cairo's `ARGB32`
/// on little-endian machines, GDK's `B8G8R8A8_PREMULTIPLIED`, Qt's `ARGB32_Premultiplied`. The pixels never change and never
/// move, so any thread that retains the image may use them in place.
public final class BitmapImage: Sendable {
    let buffer: PixelBuffer
    /// The number of pixels per point; 1 unless the image was made for a screen with another scale.
    public let scale: CGFloat
    /// Whether every pixel is known to be opaque, because the source image has no alpha.
    public let isOpaque: Bool

    init(_ buffer: PixelBuffer, scale: CGFloat = 1, isOpaque: Bool) {
        self.buffer = buffer
        self.scale = scale
        self.isOpaque = isOpaque
    }

    /// Creates an image whose pixels `fill` writes: premultiplied BGRA, rows without gaps. The memory is zero (transparent)
    /// at first. Returns nil if a side is not positive or memory runs out.
    /// - Parameters:
    ///   - width: The number of columns, in pixels.
    ///   - height: The number of rows, in pixels.
    ///   - scale: The number of pixels per point.
    ///   - isOpaque: A promise that `fill` sets the alpha of every pixel to 255.
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

    /// The bytes from the start of one row to the start of the next: four per pixel.
    public var bytesPerRow: Int { buffer.bytesPerRow }

    /// The size in points: pixels divided by ``scale``.
    public var size: CGSize { CGSize(width: CGFloat(width) / scale, height: CGFloat(height) / scale) }

    /// Calls `body` with the pixels. They stay in place for as long as the image lives. A caller that retains the image, as
    /// with `Unmanaged.passRetained`, may keep the pointer until it releases the image.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(buffer.bytes) }
    }

    /// The bytes that the pixels take in memory.
    package var decodedByteCount: Int { buffer.size.bytes }

    /// Returns the same pixels with another scale. They are shared, not copied.
    public func withScale(_ scale: CGFloat) -> BitmapImage {
        BitmapImage(buffer, scale: scale.isFinite && scale > 0 ? scale : 1, isOpaque: isOpaque)
    }
}

/// Two images are equal if their sizes and pixels are. The scale does not matter.
extension BitmapImage: Hashable {
    /// Whether size and pixels are the same.
    public static func == (one: BitmapImage, other: BitmapImage) -> Bool {
        one.buffer === other.buffer || one.buffer.hasSameBytes(as: other.buffer)
    }

    /// Hashes the size and some pixels, so the cost does not depend on the image's size.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(buffer.size)
        let bytes = buffer.bytes
        for offset in stride(from: 0, to: bytes.count, by: max(4, bytes.count / 64)) {
            hasher.combine(bytes[offset])
        }
    }
}

extension BitmapImage: CustomStringConvertible {
    /// The size, for people.
    public var description: String { "BitmapImage \(width) × \(height)\(scale == 1 ? "" : " @\(scale)x")" }
}
