internal import CImageProcessing
import SynchronizerSupport

/// Pixels that image processing changes in place: premultiplied BGRA of 8 bits. Its creator owns the memory.
package struct PixelCanvas {
    private static let rowsBetweenChecks = 64

    package let base: UnsafeMutableRawPointer
    package let size: PixelSize
    package let bytesPerRow: Int

    package init(base: UnsafeMutableRawPointer, size: PixelSize, bytesPerRow: Int) {
        (self.base, self.size, self.bytesPerRow) = (base, size, bytesPerRow)
    }

    /// Calls `body` with the pixels of each row. Throws `CancellationError` if the load is cancelled.
    func forEachRow(_ body: (_ row: Int, _ pixels: UnsafeMutablePointer<UInt8>) throws -> Void) throws {
        for row in 0..<size.height {
            if row % Self.rowsBetweenChecks == 0 { try ParseCancellation.check() }
            try body(row, (base + row * bytesPerRow).assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Replaces colours by their luma.
    package func makeGrey() throws {
        try forEachRow { _, pixels in pixels_grey(pixels, size.width) }
    }

    /// Mixes a colour into each pixel, and keeps the pixel's alpha.
    package func tint(_ colour: PixelColor) throws {
        func parts(_ value: Double) -> UInt32 { UInt32((value * 256).rounded()) }
        let share = parts(colour.alpha)
        let (blue, green, red) = (
            parts(colour.blue * colour.alpha), parts(colour.green * colour.alpha), parts(colour.red * colour.alpha)
        )
        try forEachRow { _, pixels in pixels_tint(pixels, size.width, blue, green, red, share) }
    }

    /// The standard deviations of blurs, in pixels. A smaller one has no effect, and a larger one is clamped.
    package static let blurRange = 0.1...1000.0

    /// Convolves the picture with a Gaussian, whose standard deviation is in pixels.
    package func blur(sigma: Double) throws {
        guard sigma >= Self.blurRange.lowerBound else { return }
        let sigma = min(sigma, Self.blurRange.upperBound)
        let pixels = base.assumingMemoryBound(to: UInt8.self)
        let result = pixels_blur(pixels, size.width, size.height, bytesPerRow, sigma) {
            ParseCancellation.isCancelled ? 1 : 0
        }
        switch Int(result) {
        case PIXELS_DONE: return
        case PIXELS_STOPPED: throw CancellationError()
        default: throw ImageError.outOfMemory
        }
    }
}

/// A colour with straight alpha in the colour space of a picture. Channels are from 0 to 1.
package struct PixelColor: Hashable, Sendable {
    package let red, green, blue, alpha: Double

    package init(red: Double, green: Double, blue: Double, alpha: Double) {
        (self.red, self.green, self.blue, self.alpha) = (red.inUnit, green.inUnit, blue.inUnit, alpha.inUnit)
    }
}

extension BinaryFloatingPoint {
    /// The nearest value from 0 to 1; 0 for NaN.
    package var inUnit: Self { isNaN ? 0 : min(max(self, 0), 1) }
}
