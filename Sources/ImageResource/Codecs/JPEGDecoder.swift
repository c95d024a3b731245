#if !canImport(ImageIO)
    internal import CCodecs
    import Foundation
    import Synchronizer

    /// JPEG by libjpeg-turbo: scaled in the decoder to about twice what is wanted, the rest by areas.
    final class JPEGDecoder: BitmapCodec {
        /// More scans than any encoder writes, and more pixels in all scans together than there are in 40 scans of the
        /// largest picture: each scan costs a pass over the whole picture, however few bytes it has.
        private static let maximumScans = 100
        private static let maximumScannedPixels = 4_000_000_000

        private let reader: OpaquePointer

        private init() throws {
            guard let reader = jpeg_reader_open() else { throw ImageError.outOfMemory }
            self.reader = reader
        }

        deinit {
            jpeg_reader_close(reader)
        }

        /// One that comes in several scans has all its coefficients in memory before its first row is made.
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int {
            let strips = PixelSize(width: plan.stored.width, height: 4 * PictureAssembler.stripHeight).bytes
            return strips + JPEGHeader.coefficientBytes(bytes)
        }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            let decoder = try JPEGDecoder()
            jpeg_reader_set_data(decoder.reader, bytes.bytes.baseAddress, bytes.count, 1)
            return try decoder.decode(plan)
        }

        private func decode(_ plan: DecodePlan) throws -> BitmapImage {
            var header = jpeg_reader_header()
            try check(jpeg_reader_read_header(reader, &header))
            guard Int(header.width) == plan.stored.width, Int(header.height) == plan.stored.height else {
                throw ImageError.damaged(.jpeg, "two sizes")
            }
            let eighths = Self.eighths(plan)
            let isInks = header.components == 4
            var (width, height): (UInt32, UInt32) = (0, 0)
            try check(
                jpeg_reader_start(
                    reader, Int32(eighths), Int32(isInks ? JPEG_ROWS_CMYK : JPEG_ROWS_BGRA),
                    header.multiscan, &width, &height))
            if header.multiscan != 0 { try absorb(plan.stored) }
            let picture = try PictureAssembler(
                plan, decoded: PixelSize(width: Int(width), height: Int(height)), reduction: Double(eighths) / 8)
            while !picture.isComplete {
                try picture.nextRows { rows, stride, count in
                    let count = try self.rows(rows, stride, count)
                    if isInks { Inks.mix(rows, count: count * stride / 4, inverted: header.adobe_marker != 0) }
                    return count
                }
            }
            if jpeg_reader_is_truncated(reader) != 0 { throw ImageError.damaged(.jpeg, "the data end too early") }
            return picture.finish(scale: plan.scale, isOpaque: true)
        }

        /// The scale, of those that are fast, from which the size that is wanted can be made well. Measured on detailed
        /// photographs: the mean of areas comes within 45 dB of that over the full picture from 2.6 times the size on,
        /// Lanczos's filter within 40 dB from 1.9 times.
        static func eighths(_ plan: DecodePlan) -> Int {
            let enough = plan.filter == .area ? 2.6 : 1.9
            func suffices(_ eighths: Int) -> Bool {
                Double(plan.stored.width * eighths) / 8 >= enough * Double(plan.output.width)
                    && Double(plan.stored.height * eighths) / 8 >= enough * Double(plan.output.height)
            }
            return [1, 2, 4].first(where: suffices) ?? 8
        }

        /// Takes in all scans of a file that has several, a row of blocks at a time.
        private func absorb(_ size: PixelSize) throws {
            let limit = min(Self.maximumScans, Self.maximumScannedPixels / max(size.area, 1))
            while true {
                try ParseCancellation.check()
                let step = jpeg_reader_absorb(reader)
                if step == JPEG_READER_FAILED { throw damaged() }
                if step == JPEG_READER_DONE { break }
                guard jpeg_reader_scan(reader) <= limit else {
                    throw ImageError.damaged(.jpeg, "more than \(limit) scans")
                }
            }
            try check(jpeg_reader_start_picture(reader))
        }

        private func rows(_ rows: UnsafeMutableRawPointer, _ stride: Int, _ capacity: Int) throws -> Int {
            var count: Int32 = 0
            try check(
                jpeg_reader_rows(
                    reader, rows.assumingMemoryBound(to: UInt8.self), stride, Int32(capacity), &count))
            return Int(count)
        }

        private func check(_ result: Int32) throws {
            if result != JPEG_READER_DONE { throw damaged() }
        }

        private func damaged() -> ImageError {
            .damaged(.jpeg, String(cString: jpeg_reader_message(reader)))
        }
    }
#endif
