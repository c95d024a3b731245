internal import CImageProcessing

/// Copies pixels with and without alpha.
enum PixelPacking {
    /// Copies BGRA to three bytes a pixel.
    static func dropAlpha(_ pixels: UnsafeRawPointer, into result: UnsafeMutableRawPointer, count: Int) {
        pixels_drop_alpha(
            pixels.assumingMemoryBound(to: UInt8.self), result.assumingMemoryBound(to: UInt8.self), count)
    }

    /// Copies three bytes a pixel to opaque BGRA.
    static func addAlpha(_ pixels: UnsafeRawPointer, into result: UnsafeMutableRawPointer, count: Int) {
        pixels_add_alpha(
            pixels.assumingMemoryBound(to: UInt8.self), result.assumingMemoryBound(to: UInt8.self), count)
    }
}
