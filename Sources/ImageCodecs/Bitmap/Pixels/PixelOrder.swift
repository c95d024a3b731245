#if !canImport(ImageIO)
    /// The order of colours in memory.
    enum PixelOrder {
        /// RGBA to BGRA, or the other way round; the pixels may be in the same place.
        static func swapRedAndBlue(_ pixels: UnsafeRawPointer, into result: UnsafeMutableRawPointer, count: Int) {
            for index in 0..<count {
                let pixel = pixels.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)
                let swapped = pixel & 0xFF00_FF00 | pixel >> 16 & 0xFF | (pixel & 0xFF) << 16
                result.storeBytes(of: swapped, toByteOffset: index * 4, as: UInt32.self)
            }
        }
    }
#endif
