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
            let rows = PixelSize(width: plan.stored.width, height: 4).bytes
            if isAnimated(bytes) { return rows + 2 * plan.stored.bytes }  // a canvas, and a frame to put on it
            return rows + (bytes.byte(28) == 1 ? plan.stored.bytes : 0)
        }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            if isAnimated(bytes) {
                if let animation = APNGAnimation(Data(bytes.bytes), limit: 1) {
                    if !animation.showsDefaultImage { return try animation.firstFrame(plan) }
                } else if !PNGChunks(bytes).contains(where: { $0.has("IEND") }) {
                    // The frame to show may be what is missing.
                    throw ImageError.damaged(.png, "the data end too early")
                }
            }
            return try PNGDecoder(bytes).decode(plan)
        }

        private static func isAnimated(_ bytes: ByteReader) -> Bool { APNGAnimation.control(bytes) != nil }

        /// A picture of a file that was put together in memory, premultiplied.
        static func picture(_ bytes: ByteReader, _ size: PixelSize) throws -> PixelBuffer {
            let decoder = try PNGDecoder(bytes)
            png_reader_ignore_checksums(decoder.reader)
            var header = png_reader_header()
            try decoder.check(png_reader_start(decoder.reader, &header))
            return try decoder.decodeWhole(size, header.transparent == 0)
        }

        /// The profile of a file, if it has one that matters.
        static func colours(_ bytes: ByteReader) -> ColorTransform? {
            var header = png_reader_header()
            guard let decoder = try? PNGDecoder(bytes), png_reader_start(decoder.reader, &header) != 0 else {
                return nil
            }
            return colours(header)
        }

        private static func colours(_ header: png_reader_header) -> ColorTransform? {
            let profile = ByteReader(UnsafeRawBufferPointer(start: header.profile, count: header.profile_length))
            return ColorTransform(profile, header.grey != 0 ? .grey : .rgb)
        }

        private func decode(_ plan: DecodePlan) throws -> BitmapImage {
            var header = png_reader_header()
            try check(png_reader_start(reader, &header))
            guard Int(header.width) == plan.stored.width, Int(header.height) == plan.stored.height else {
                throw ImageError.damaged(.png, "two sizes")
            }
            let isOpaque = header.transparent == 0
            let colours = Self.colours(header)
            if header.interlaced != 0 {
                return try PictureAssembler.assemble(
                    plan, decodeWhole(plan.stored, isOpaque), colours, isOpaque: isOpaque)
            }
            return try decodeRows(plan, colours, isOpaque)
        }

        private func decodeRows(_ plan: DecodePlan, _ colours: ColorTransform?, _ isOpaque: Bool) throws -> BitmapImage
        {
            let picture = try PictureAssembler(plan, decoded: plan.stored)
            while !picture.isComplete {
                try picture.nextRows { rows, stride, count in
                    try self.rows(rows, stride, count)
                    if !isOpaque { Premultiplication.multiply(rows, count: count * stride / 4) }
                    // Of premultiplied colours, as those of an animation are converted: its first frame is this picture.
                    colours?.convertPremultiplied(rows, count: count * stride / 4, isOpaque: isOpaque)
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
