internal import CImageProcessing
import Foundation

/// Memory for premultiplied BGRA. Rows follow each other without gaps.
final class PixelBuffer: @unchecked Sendable {  // Only its creator writes to it, before it is shared.
    let size: PixelSize
    let base: UnsafeMutableRawPointer

    var bytesPerRow: Int { size.width * 4 }

    /// Allocates memory. Its contents are undefined unless `cleared`.
    init(_ size: PixelSize, cleared: Bool = false) throws {
        guard size.width > 0, size.height > 0, size.bytes < .max / 2 else { throw ImageError.outOfMemory }
        guard let base = PictureMemory.allocate(size.bytes, cleared: cleared) else { throw ImageError.outOfMemory }
        self.size = size
        self.base = base
    }

    deinit {
        PictureMemory.free(base, count: size.bytes)
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: size.bytes) }

    func row(_ index: Int) -> UnsafeMutableRawPointer { base + index * bytesPerRow }

    func copy() throws -> PixelBuffer {
        let copy = try PixelBuffer(size)
        copy.base.copyMemory(from: base, byteCount: size.bytes)
        return copy
    }

    /// A copy of a part, which must lie inside the picture.
    func part(_ area: PixelArea) throws -> PixelBuffer {
        let part = try PixelBuffer(area.size)
        let start = row(area.y) + area.x * 4
        pixels_copy_rows(
            start.assumingMemoryBound(to: UInt8.self), bytesPerRow, part.base.assumingMemoryBound(to: UInt8.self),
            part.bytesPerRow, area.size.height)
        return part
    }

    /// Whether all bytes are equal.
    func hasSameBytes(as other: PixelBuffer) -> Bool {
        size == other.size && memcmp(base, other.base, size.bytes) == 0
    }
}

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
