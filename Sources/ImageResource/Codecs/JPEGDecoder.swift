#if !canImport(ImageIO)
    internal import CCodecs
    import Foundation
    import Synchronizer

    /// JPEG by libjpeg-turbo: scaled in the decoder to about twice what is wanted, the rest by areas.
    struct JPEGDecoder: ~Copyable {
        /// More scans than any encoder writes; each costs a pass over the whole picture.
        static let maximumScans = 100

        private let reader: OpaquePointer

        private init() throws {
            guard let reader = jpeg_reader_open() else { throw ImageError.outOfMemory }
            self.reader = reader
        }

        deinit {
            jpeg_reader_close(reader)
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
            let eighths = Self.eighths(from: plan.stored, to: plan.output)
            let isInks = header.components == 4
            var (width, height): (UInt32, UInt32) = (0, 0)
            try check(
                jpeg_reader_start(
                    reader, Int32(eighths), Int32(isInks ? JPEG_ROWS_CMYK : JPEG_ROWS_BGRA),
                    header.multiscan, &width, &height))
            if header.multiscan != 0 { try absorb() }
            let picture = try PictureAssembler(
                decoded: PixelSize(width: Int(width), height: Int(height)),
                extent: (Double(plan.stored.width * eighths) / 8, Double(plan.stored.height * eighths) / 8),
                output: plan.output, orientation: plan.orientation)
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

        /// The scale, of those that are fast, that gives about twice the size that is wanted: from there on a mean of
        /// areas comes within 48 dB of the mean over the full picture, from just the size only within 40.
        static func eighths(from stored: PixelSize, to output: PixelSize) -> Int {
            for eighths in [1, 2, 4] {
                let (width, height) = (stored.width * eighths / 8, stored.height * eighths / 8)
                if Double(width) >= 1.9 * Double(output.width), Double(height) >= 1.9 * Double(output.height) {
                    return eighths
                }
            }
            return 8
        }

        /// Takes in all scans of a file that has several, a row of blocks at a time.
        private func absorb() throws {
            while true {
                try ParseCancellation.check()
                let step = jpeg_reader_absorb(reader)
                if step == JPEG_READER_FAILED { throw damaged() }
                if step == JPEG_READER_DONE { break }
                guard jpeg_reader_scan(reader) <= Self.maximumScans else {
                    throw ImageError.damaged(.jpeg, "more than \(Self.maximumScans) scans")
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
