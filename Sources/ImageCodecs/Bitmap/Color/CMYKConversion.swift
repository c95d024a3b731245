/// Converts CMYK to BGRA without a profile: each ink takes away its share of light.
enum CMYKConversion {
    /// Converts `count` pixels in place. JPEG files store inks inverted: a value is the light that the ink leaves. Browsers
    /// read all files that way, with or without Adobe's marker.
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
