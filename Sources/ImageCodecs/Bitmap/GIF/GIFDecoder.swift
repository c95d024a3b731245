#if !canImport(ImageIO)
    import Foundation
    import Synchronizer

    /// GIF, decoded here: one frame at a time, drawn onto a canvas.
    enum GIFDecoder: BitmapCodec {
        /// The canvas, and a byte for each pixel of a frame, which may be larger than the canvas.
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int {
            var file = GIFFile(bytes)
            let frame = file?.nextFrame()?.area.size.area ?? 0
            return frame + (plan.output == plan.stored ? 0 : plan.stored.bytes)
        }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            guard var file = GIFFile(bytes), let frame = file.nextFrame() else {
                throw ImageError.damaged(.gif, "there is no frame")
            }
            let canvas = try PixelBuffer(plan.stored, cleared: true)
            try draw(frame, bytes, onto: canvas)
            return try PictureAssembler.assemble(plan, canvas, isOpaque: isOpaque(frame, plan.stored))
        }

        private static func isOpaque(_ frame: GIFFile.Frame, _ canvas: PixelSize) -> Bool {
            frame.transparentIndex == nil && frame.area == PixelArea(x: 0, y: 0, size: canvas)
        }

        /// Draws a frame over what is there: its transparent pixels, and those that are missing, leave it as it is.
        static func draw(_ frame: GIFFile.Frame, _ bytes: ByteReader, onto canvas: PixelBuffer) throws {
            let size = frame.area.size
            guard size.area > 0 else { return try checkEnd(frame, bytes) }
            guard size.area <= min(ImageDecoding.maximumPixelCount, Int(Int32.max)) else {
                throw ImageError.tooManyPixels(
                    width: size.width, height: size.height, limit: ImageDecoding.maximumPixelCount)
            }
            let palette = palette(frame, bytes)
            guard let indices = malloc(size.area) else { throw ImageError.outOfMemory }
            defer { free(indices) }
            let output = UnsafeMutableBufferPointer(
                start: indices.assumingMemoryBound(to: UInt8.self), count: size.area)
            var blocks = GIFSubBlocks(bytes, at: frame.dataOffset + 1)
            let literals = bytes.byte(frame.dataOffset).map(Int.init) ?? 0
            guard let count = try LZW.decode(&blocks, minimumSize: literals, into: output) else {
                let reason = blocks.isTruncated ? "the data end too early" : "a code makes no sense"
                throw ImageError.damaged(.gif, reason)
            }
            let rows = GIFRows(frame: frame, palette: palette, indices: output, count: count)
            try rows.draw(onto: canvas)
        }

        /// A frame without pixels has data all the same, and may be cut short like any other.
        private static func checkEnd(_ frame: GIFFile.Frame, _ bytes: ByteReader) throws {
            var blocks = GIFSubBlocks(bytes, at: frame.dataOffset + 1)
            blocks.skip()
            if blocks.isTruncated { throw ImageError.damaged(.gif, "the data end too early") }
        }

        /// The colours as pixels, always 256. The transparent one is 0; those beyond the end of the table are black, as in
        /// browsers.
        private static func palette(_ frame: GIFFile.Frame, _ bytes: ByteReader) -> [UInt32] {
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

        /// For a frame without colours of any kind: greys, as in Pillow, which leaves out such a table when it writes.
        private static let standardPalette = (0..<256).map { 0xFF00_0000 | UInt32($0) * 0x01_0101 }
    }

    /// The indices of a frame, on their way to the canvas.
    private struct GIFRows {
        let frame: GIFFile.Frame
        let palette: [UInt32]
        let indices: UnsafeMutableBufferPointer<UInt8>
        /// How many of them there are; a frame may be cut short.
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
                    draw(indices + source * width, available, pixels)
                }
                source += 1
            }
        }

        private func draw(_ row: UnsafePointer<UInt8>, _ count: Int, _ pixels: UnsafeMutablePointer<UInt32>) {
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

        /// The numbers of the rows, in the order in which they are stored (GIF89a appendix E).
        private var order: [Int] {
            let height = frame.area.size.height
            guard frame.isInterlaced else { return Array(0..<height) }
            return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
        }
    }
#endif
