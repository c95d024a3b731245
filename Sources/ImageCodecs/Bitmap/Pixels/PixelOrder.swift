/// The order of colours in memory.
enum PixelOrder {
    /// Converts RGBA to BGRA and vice versa. Source and result may be the same memory.
    static func swapRedAndBlue(_ pixels: UnsafeRawPointer, into result: UnsafeMutableRawPointer, count: Int) {
        for index in 0..<count {
            let pixel = pixels.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
            let swapped = pixel & 0xFF00_FF00 | pixel >> 16 & 0xFF | (pixel & 0xFF) << 16
            result.storeBytes(of: swapped, toByteOffset: index * 4, as: UInt32.self)
        }
    }
}
