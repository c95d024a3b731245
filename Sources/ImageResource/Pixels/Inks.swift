#if !canImport(ImageIO)
    /// CMYK to BGRA where no profile says how the inks look: each ink takes away its share of light.
    enum Inks {
        /// Rewrites `count` pixels in place. Inverted inks, as Adobe stores them, count the light that is left.
        static func mix(_ pixels: UnsafeMutableRawPointer, count: Int, inverted: Bool) {
            let flip: SIMD4<UInt8> = inverted ? .zero : SIMD4(repeating: 255)
            let pixels = pixels.assumingMemoryBound(to: SIMD4<UInt8>.self)
            for index in 0..<count {
                let light = SIMD4<UInt16>(truncatingIfNeeded: pixels[index] ^ flip)
                let product = light &* light.w &+ 128
                let mixed = (product &+ product &>> 8) &>> 8
                pixels[index] = SIMD4<UInt8>(
                    UInt8(truncatingIfNeeded: mixed.z), UInt8(truncatingIfNeeded: mixed.y),
                    UInt8(truncatingIfNeeded: mixed.x), 255)
            }
        }
    }
#endif
