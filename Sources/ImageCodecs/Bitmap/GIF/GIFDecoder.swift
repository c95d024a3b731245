import Foundation
import SynchronizerSupport

/// Decodes GIF in Swift: draws one frame at a time onto a canvas.
enum GIFDecoder: BitmapCodec {
    /// One byte for each pixel of the frame, which may be larger than the canvas; and the canvas, unless it is the result.
    static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int {
        var file = GIFFile(bytes)
        let frame = file?.nextFrame()?.area.size.area ?? 0
        return frame + (plan.output == plan.stored ? 0 : plan.stored.bytes)
    }

    static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
        guard var file = GIFFile(bytes), let frame = file.nextFrame() else {
            throw ImageError.corrupt(.gif, "no frame")
        }
        let canvas = try PixelBuffer(plan.stored, cleared: true)
        let isFilled = try draw(frame, from: bytes, onto: canvas)
        let isOpaque =
            isFilled && frame.transparentIndex == nil && frame.area == PixelArea(x: 0, y: 0, size: plan.stored)
        return try PictureAssembler.assemble(plan, whole: canvas, isOpaque: isOpaque)
    }

    /// Draws a frame over the canvas. Transparent and missing pixels leave the canvas as it is. Returns whether no pixel
    /// of the frame is missing.
    static func draw(_ frame: GIFFile.Frame, from bytes: ByteReader, onto canvas: PixelBuffer) throws -> Bool {
        let size = frame.area.size
        guard size.area > 0 else {
            try checkEnd(frame, in: bytes)
            return true
        }
        guard size.area <= min(ImageDecoding.maximumPixelCount, Int(Int32.max)) else {
            throw ImageError.tooManyPixels(
                width: size.width, height: size.height, limit: ImageDecoding.maximumPixelCount)
        }
        let palette = palette(frame, in: bytes)
        guard let indices = malloc(size.area) else { throw ImageError.outOfMemory }
        defer { free(indices) }
        let output = UnsafeMutableBufferPointer(
            start: indices.assumingMemoryBound(to: UInt8.self), count: size.area)
        var blocks = GIFSubBlocks(bytes, at: frame.dataOffset + 1)
        let literals = bytes.byte(frame.dataOffset).map(Int.init) ?? 0
        guard let count = try LZW.decode(&blocks, minimumSize: literals, into: output) else {
            let reason = blocks.isTruncated ? "the data ends too early" : "invalid code"
            throw ImageError.corrupt(.gif, reason)
        }
        let rows = GIFRows(frame: frame, palette: palette, indices: output, count: count)
        try rows.draw(onto: canvas)
        return count == size.area
    }

    /// A frame without pixels has data too, which may be cut short.
    private static func checkEnd(_ frame: GIFFile.Frame, in bytes: ByteReader) throws {
        var blocks = GIFSubBlocks(bytes, at: frame.dataOffset + 1)
        blocks.skip()
        if blocks.isTruncated { throw ImageError.corrupt(.gif, "the data ends too early") }
    }

    /// The 256 colours as pixels. The transparent one is 0. Colours beyond the end of the table are black, as in browsers.
    private static func palette(_ frame: GIFFile.Frame, in bytes: ByteReader) -> [UInt32] {
        var pixels = [UInt32](repeating: 0xFF00_0000, count: 256)
        if let palette = frame.palette {
            for index in 0..<min(palette.count, 256) {
                let offset = palette.offset + index * 3
                guard let red = bytes.byte(offset), let rest = bytes.big16(offset + 1) else { break }
                pixels[index] = 0xFF00_0000 | UInt32(red) << 16 | UInt32(rest)
            }
        } else {
            pixels = standardPalette
        }
        if let clear = frame.transparentIndex { pixels[Int(clear)] = 0 }
        return pixels
    }

    /// Greys, for a frame without any colour table. Pillow leaves out the table when it writes greys.
    private static let standardPalette = (0..<256).map { 0xFF00_0000 | UInt32($0) * 0x01_0101 }
}

/// Draws the indices of a frame onto the canvas.
private struct GIFRows {
    let frame: GIFFile.Frame
    let palette: [UInt32]
    let indices: UnsafeMutableBufferPointer<UInt8>
    /// The number of indices, which may be too small for the frame.
    let count: Int

    func draw(onto canvas: PixelBuffer) throws {
        guard let visible = frame.area.inside(canvas.size), let indices = indices.baseAddress else { return }
        let width = frame.area.size.width
        var source = 0
        for row in order {
            if source & 63 == 0 { try ParseCancellation.check() }
            let y = frame.area.y + row
            let available = min(visible.size.width, count - source * width)
            if y < canvas.size.height, available > 0 {
                let pixels = canvas.row(y).assumingMemoryBound(to: UInt32.self) + visible.x
                draw(indices + source * width, count: available, into: pixels)
            }
            source += 1
        }
    }

    private func draw(_ row: UnsafePointer<UInt8>, count: Int, into pixels: UnsafeMutablePointer<UInt32>) {
        palette.withUnsafeBufferPointer { palette in
            if frame.transparentIndex == nil {
                for x in 0..<count { pixels[x] = palette[Int(row[x])] }
            } else {
                for x in 0..<count {
                    let colour = palette[Int(row[x])]
                    if colour != 0 { pixels[x] = colour }
                }
            }
        }
    }

    /// The row numbers in stored order (GIF89a appendix E).
    private var order: [Int] {
        let height = frame.area.size.height
        guard frame.isInterlaced else { return Array(0..<height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
    }
}
