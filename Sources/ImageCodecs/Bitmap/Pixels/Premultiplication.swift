import SynchronizerSupport

/// Converts straight alpha to premultiplied alpha and back. Pixels have four bytes with alpha last.
enum Premultiplication {
    private typealias Pixels = SIMD8<UInt32>

    /// Multiplies the colours of `count` pixels with their alpha, rounding to the nearest value.
    static func multiply(_ pixels: UnsafeMutableRawPointer, count: Int) {
        let together = Pixels.scalarCount
        let rest = count % together
        for offset in stride(from: 0, to: (count - rest) * 4, by: together * 4) {
            let multiplied = multiplied(pixels.loadUnaligned(fromByteOffset: offset, as: Pixels.self))
            pixels.storeBytes(of: multiplied, toByteOffset: offset, as: Pixels.self)
        }
        let last = pixels.assumingMemoryBound(to: UInt32.self) + count - rest
        for index in 0..<rest { last[index] = multiplied(Pixels(repeating: last[index]))[0] }
    }

    /// Computes red and blue at once. For a product x of two bytes, x / 255 is (x + 128 + ((x + 128) >> 8)) >> 8.
    @inline(__always)
    private static func multiplied(_ pixels: Pixels) -> Pixels {
        let alpha = pixels &>> 24
        let outer = (pixels & 0x00FF_00FF) &* alpha &+ 0x0080_0080
        let green = (pixels &>> 8 & 0xFF) &* alpha &+ 0x80
        return (outer &+ (outer &>> 8 & 0x00FF_00FF)) &>> 8 & 0x00FF_00FF
            | (green &+ green &>> 8) & 0xFF00 | pixels & 0xFF00_0000
    }

    /// Multiplies a whole picture. Throws `CancellationError` if the load is cancelled.
    static func multiply(_ picture: PixelBuffer) throws {
        for row in 0..<picture.size.height {
            try ParseCancellation.check()
            multiply(picture.row(row), count: picture.size.width)
        }
    }

    /// Limits the colours of a picture to their alpha. In a file with premultiplied colours, lossy compression can make them
    /// larger. Throws `CancellationError` if the load is cancelled.
    static func limit(_ picture: PixelBuffer) throws {
        for row in 0..<picture.size.height {
            try ParseCancellation.check()
            limit(picture.row(row), count: picture.size.width)
        }
    }

    /// Limits the colours of `count` pixels to their alpha.
    static func limit(_ pixels: UnsafeMutableRawPointer, count: Int) {
        let pixels = pixels.assumingMemoryBound(to: SIMD4<UInt8>.self)
        for index in 0..<count { pixels[index] = pointwiseMin(pixels[index], SIMD4(repeating: pixels[index].w)) }
    }

    /// Makes the first rows of a picture opaque. Throws `CancellationError` if the load is cancelled.
    static func removeAlpha(_ picture: PixelBuffer, rows: Int) throws {
        for row in 0..<rows {
            try ParseCancellation.check()
            let pixels = picture.row(row).assumingMemoryBound(to: UInt32.self)
            for index in 0..<picture.size.width { pixels[index] |= 0xFF00_0000 }
        }
    }

    /// Writes `count` pixels with their colours divided by their alpha.
    static func divide(_ pixels: UnsafeRawPointer, into result: UnsafeMutableRawPointer, count: Int) {
        for index in 0..<count {
            let pixel = pixels.load(fromByteOffset: index * 4, as: UInt32.self)
            let alpha = pixel >> 24
            var straight = pixel
            if alpha == 0 {
                straight = 0
            } else if alpha != 255 {
                straight = alpha << 24
                for shift: UInt32 in [0, 8, 16] {
                    straight |= min(255, ((pixel >> shift & 0xFF) &* 255 &+ alpha / 2) / alpha) << shift
                }
            }
            result.storeBytes(of: straight, toByteOffset: index * 4, as: UInt32.self)
        }
    }
}
