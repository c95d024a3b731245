#if !canImport(ImageIO)
    internal import CCodecs
    import Foundation
    import Synchronizer

    /// PNG by libpng, row by row; one that is interlaced is decoded whole, and then scaled.
    final class PNGDecoder: BitmapCodec {
        /// The largest that a compressed chunk may become, in bytes; colour profiles are the largest that are read.
        private static let maximumChunk = 8 << 20

        private let reader: OpaquePointer

        private init(_ bytes: ByteReader) throws {
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let reader = png_reader_open(address, bytes.count, Self.maximumChunk) else {
                throw ImageError.outOfMemory
            }
            self.reader = reader
        }

        deinit {
            png_reader_close(reader)
        }

        /// One that is interlaced is there as a whole before its first row is.
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int {
            let rows = bytes.byte(28) == 1 ? plan.stored.height : PictureAssembler.stripHeight
            return PixelSize(width: plan.stored.width, height: rows + 4).bytes
        }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            try PNGDecoder(bytes).decode(plan)
        }

        private func decode(_ plan: DecodePlan) throws -> BitmapImage {
            var header = png_reader_header()
            try check(png_reader_start(reader, &header))
            let isOpaque = header.transparent == 0
            if header.interlaced != 0 {
                return try PictureAssembler.assemble(plan, decodeWhole(plan.stored, isOpaque), isOpaque: isOpaque)
            }
            let picture = try PictureAssembler(plan, decoded: plan.stored)
            while !picture.isComplete {
                try picture.nextRows { rows, stride, count in
                    try self.rows(rows, stride, count)
                    if !isOpaque { Premultiplication.multiply(rows, count: count * stride / 4) }
                    return count
                }
            }
            return picture.finish(scale: plan.scale, isOpaque: isOpaque)
        }

        private func decodeWhole(_ size: PixelSize, _ isOpaque: Bool) throws -> PixelBuffer {
            let whole = try PixelBuffer(size, cleared: true)
            try rows(whole.base, whole.bytesPerRow, size.height)
            if !isOpaque { try Premultiplication.multiply(whole) }
            return whole
        }

        private func rows(_ rows: UnsafeMutableRawPointer, _ stride: Int, _ count: Int) throws {
            let rows = rows.assumingMemoryBound(to: UInt8.self)
            let proceed: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in
                ParseCancellation.isCancelled ? 0 : 1
            }
            guard png_reader_rows(reader, rows, stride, UInt32(count), proceed, nil) != 0 else {
                try ParseCancellation.check()
                throw damaged()
            }
        }

        private func check(_ success: Int32) throws {
            if success == 0 { throw damaged() }
        }

        private func damaged() -> ImageError {
            .damaged(.png, String(cString: png_reader_message(reader)))
        }
    }
#endif
