internal import CCodecs
import Foundation

extension BitmapImage {
    /// The image as a PNG file. It is lossless apart from the rounding of premultiplied colours. An opaque image is written
    /// without alpha. Returns nil if memory runs out or a side has more than 2,147,483,647 pixels.
    public func pngData() -> Data? {
        guard let width32 = UInt32(exactly: width), let height32 = UInt32(exactly: height),
            let writer = png_writer_open(width32, height32, isOpaque ? 1 : 0)
        else { return nil }
        defer { png_writer_close(writer) }
        var row = [UInt8](repeating: 0, count: bytesPerRow)
        for y in 0..<height {
            let done = row.withUnsafeMutableBytes { row in
                straightRow(y, into: row)
                return png_writer_row(writer, row.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
            if done == 0 { return nil }
        }
        var (bytes, length): (UnsafePointer<UInt8>?, Int) = (nil, 0)
        guard png_writer_finish(writer, &bytes, &length) != 0, let bytes else { return nil }
        return Data(bytes: bytes, count: length)
    }

    /// Writes a row as PNG stores it: without alpha if the image is opaque, otherwise with straight colours.
    private func straightRow(_ y: Int, into row: UnsafeMutableRawBufferPointer) {
        guard let base = row.baseAddress else { return }
        guard isOpaque else { return Premultiplication.divide(buffer.row(y), into: base, count: width) }
        let pixels = buffer.row(y)
        for x in 0..<width {
            for channel in 0..<3 {
                row[x * 3 + channel] = pixels.load(fromByteOffset: x * 4 + channel, as: UInt8.self)
            }
        }
    }

    /// The image as a 4:2:0 JPEG file, on white where it is transparent. Returns nil if memory runs out or a side has more
    /// than 65,500 pixels.
    /// - Parameter compressionQuality: From 0 (smallest) to 1 (best).
    public func jpegData(compressionQuality: CGFloat) -> Data? {
        let quality = compressionQuality.isNaN ? 0.75 : min(max(compressionQuality, 0.01), 1)
        guard let width32 = UInt32(exactly: width), let height32 = UInt32(exactly: height),
            let writer = jpeg_writer_open(width32, height32, Int32((quality * 100).rounded()))
        else { return nil }
        defer { jpeg_writer_close(writer) }
        var row = [UInt32](repeating: 0, count: width)
        for y in 0..<height {
            rowOnWhite(y, into: &row)
            let done = row.withUnsafeBytes { row in
                jpeg_writer_row(writer, row.baseAddress?.assumingMemoryBound(to: UInt8.self))
            }
            if done == 0 { return nil }
        }
        var (bytes, length): (UnsafePointer<UInt8>?, Int) = (nil, 0)
        guard jpeg_writer_finish(writer, &bytes, &length) != 0, let bytes else { return nil }
        return Data(bytes: bytes, count: length)
    }

    private func rowOnWhite(_ y: Int, into row: inout [UInt32]) {
        let pixels = buffer.row(y).assumingMemoryBound(to: UInt32.self)
        for x in 0..<width {
            // Premultiplied colours do not exceed their alpha, so no channel overflows into the next.
            row[x] = pixels[x] &+ (255 - pixels[x] >> 24) &* 0x0001_0101
        }
    }
}
