import Foundation

// The pixels as they are stored next to the response that they were decoded from. Opaque images, which most are, are stored
// without alpha: that takes a quarter less.
extension BitmapImage {
    /// The bytes before the pixels: a mark, the number of bytes per pixel, width, height, scale.
    private static let headSize = 20
    private static let mark: UInt16 = 0x6250  // "Pb"

    /// The image as bytes, from which ``init(storedForm:)`` makes an equal one.
    package var storedForm: Data {
        let bytesPerPixel = isOpaque ? 3 : 4
        let count = Self.headSize + width * height * bytesPerPixel
        var data = Data(count: count)
        data.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            bytes.storeBytes(of: Self.mark.littleEndian, as: UInt16.self)
            bytes.storeBytes(of: UInt16(bytesPerPixel).littleEndian, toByteOffset: 2, as: UInt16.self)
            bytes.storeBytes(of: UInt32(width).littleEndian, toByteOffset: 4, as: UInt32.self)
            bytes.storeBytes(of: UInt32(height).littleEndian, toByteOffset: 8, as: UInt32.self)
            bytes.storeBytes(of: Double(scale).bitPattern.littleEndian, toByteOffset: 12, as: UInt64.self)
            let pixels = base + Self.headSize
            if isOpaque {
                PixelPacking.dropAlpha(buffer.base, into: pixels, count: width * height)
            } else {
                pixels.copyMemory(from: buffer.base, byteCount: buffer.size.bytes)
            }
        }
        return data
    }

    /// Creates an image from ``storedForm``; nil if the bytes are something else.
    package convenience init?(storedForm data: Data) {
        guard let (buffer, scale, isOpaque) = data.withUnsafeBytes(Self.decode) else { return nil }
        self.init(buffer, scale: scale, isOpaque: isOpaque)
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) -> (PixelBuffer, scale: CGFloat, isOpaque: Bool)? {
        guard bytes.count > headSize, let base = bytes.baseAddress,
            UInt16(littleEndian: bytes.loadUnaligned(as: UInt16.self)) == mark
        else { return nil }
        let bytesPerPixel = Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        let width = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        let height = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
        let scale = Double(
            bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt64.self)))
        let (pixels, overflows) = width.multipliedReportingOverflow(by: height)
        guard bytesPerPixel == 3 || bytesPerPixel == 4, !overflows, scale.isFinite, scale > 0,
            pixels <= (bytes.count - headSize) / bytesPerPixel, pixels * bytesPerPixel == bytes.count - headSize,
            let buffer = try? PixelBuffer(PixelSize(width: width, height: height))
        else { return nil }
        if bytesPerPixel == 3 {
            PixelPacking.addAlpha(base + headSize, into: buffer.base, count: pixels)
        } else {
            buffer.base.copyMemory(from: base + headSize, byteCount: buffer.size.bytes)
        }
        return (buffer, CGFloat(scale), bytesPerPixel == 3)
    }
}
