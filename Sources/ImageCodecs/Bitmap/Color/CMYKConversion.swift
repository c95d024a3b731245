#if !canImport(ImageIO)
    /// CMYK to BGRA where no profile says how the inks look: each ink takes away its share of light.
    enum Inks {
        /// Rewrites `count` pixels in place. JPEG files store inks inverted, so that they count the light that is left.
        /// Browsers take all files so, with or without Adobe's marker.
        static func mix(_ pixels: UnsafeMutableRawPointer, count: Int) {
            let pixels = pixels.assumingMemoryBound(to: SIMD4<UInt8>.self)
            for index in 0..<count {
                let light = SIMD4<UInt16>(truncatingIfNeeded: pixels[index])
                let product = light &* light.w &+ 128
                let mixed = (product &+ product &>> 8) &>> 8
                pixels[index] = SIMD4<UInt8>(
                    UInt8(truncatingIfNeeded: mixed.z), UInt8(truncatingIfNeeded: mixed.y),
                    UInt8(truncatingIfNeeded: mixed.x), 255)
            }
        }
    }
#endif
