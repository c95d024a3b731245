#if !canImport(ImageIO)
    internal import CCodecs

    /// libjpeg-turbo, a step at a time: what can be called when is libjpeg's affair, and out of turn it is an error.
    final class JPEGReader {
        enum Step {
            case done
            /// More bytes are needed than there are so far.
            case needsData
            case more
            case scanEnd
        }

        private let reader: OpaquePointer
        private var header = jpeg_reader_header()

        init() throws {
            guard let reader = jpeg_reader_open() else { throw ImageError.outOfMemory }
            self.reader = reader
        }

        deinit {
            jpeg_reader_close(reader)
        }

        /// Gives all bytes that there are so far. They must stay in place until more are given, or until the last call.
        func give(_ bytes: ByteReader, isComplete: Bool) {
            let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            jpeg_reader_set_data(reader, address, bytes.count, isComplete ? 1 : 0)
        }

        /// Reads up to the first scan; the size that is stored, or nil if more bytes are needed.
        /// - Parameter bytes: The file so far, in which no less memory must have been foreseen than libjpeg needs.
        func readHeader(_ bytes: ByteReader) throws -> PixelSize? {
            guard try step(jpeg_reader_read_header(reader, &header)) == .done else { return nil }
            if header.coefficient_bytes > UInt64(JPEGHeader.coefficientBytes(bytes)) {
                throw ImageError.damaged(.jpeg, "a header of two meanings")
            }
            return PixelSize(width: Int(header.width), height: Int(header.height))
        }

        /// Whether it comes in several scans, which have to be absorbed before there is a picture.
        var hasScans: Bool { header.multiscan != 0 }
        /// Whether its rows are inks, which are not yet mixed.
        private var isInks: Bool { header.components == 4 }
        /// What a profile in the file should be of.
        private var colourModel: ColorTransform.Model {
            switch header.components {
            case 1: return .grey
            case 4: return .cmyk
            default: return .rgb
            }
        }
        /// Converts each row, if there is a profile that matters.
        private var colours: ColorTransform?

        /// Converts the rows that come from here on as the profile of the file says, if it has one that matters. The header must
        /// have been read.
        func convertColours(of bytes: ByteReader) {
            colours = JPEGHeader.profile(bytes)?.withUnsafeBytes { ColorTransform(ByteReader($0), colourModel) }
        }

        /// The number of the scan that is being absorbed, from 1.
        var scan: Int { Int(jpeg_reader_scan(reader)) }
        /// Whether something was missing at the end of the data, and grey stands in its place.
        var isTruncated: Bool { jpeg_reader_is_truncated(reader) != 0 }

        /// Begins to decode at so many eighths of the size; the size of the rows that come, or nil if more bytes are
        /// needed.
        /// - Parameter isCoarse: Whether nothing is kept but the means and slopes of blocks, which two eighths are made
        ///   of.
        func start(eighths: Int, isCoarse: Bool = false) throws -> PixelSize? {
            var (width, height): (UInt32, UInt32) = (0, 0)
            let layout = Int32(isInks ? JPEG_ROWS_CMYK : JPEG_ROWS_BGRA)
            let result = jpeg_reader_start(
                reader, Int32(eighths), layout, header.multiscan, isCoarse ? 1 : 0, &width, &height)
            return try step(result) == .done ? PixelSize(width: Int(width), height: Int(height)) : nil
        }

        /// Begins to decode to a quarter of the size by the shorter way of `jpeg_quarter.h`; the size of the rows that
        /// come, or nil if the file is not for it. If it leads nowhere `start` can still be called.
        func startQuarter() -> PixelSize? {
            var (width, height): (UInt32, UInt32) = (0, 0)
            guard jpeg_reader_start_quarter(reader, &width, &height) == JPEG_READER_DONE else { return nil }
            return PixelSize(width: Int(width), height: Int(height))
        }

        /// Decodes some rows of BGRA; how many, which is 0 if something is not in order.
        func quarterRows(_ rows: UnsafeMutableRawPointer, _ stride: Int, _ capacity: Int) -> Int {
            var count: Int32 = 0
            let bytes = rows.assumingMemoryBound(to: UInt8.self)
            _ = jpeg_reader_quarter_rows(reader, bytes, stride, Int32(capacity), &count)
            colours?.convert(rows, count: Int(count) * stride / 4)
            return Int(count)
        }

        /// Takes in a row of blocks at most.
        func absorb() throws -> Step { try step(jpeg_reader_absorb(reader)) }

        /// Begins a picture of what has been absorbed up to a scan.
        func startPicture(scan: Int) throws { try finish(jpeg_reader_start_picture(reader, Int32(clamping: scan))) }

        func finishPicture() throws { try finish(jpeg_reader_finish_picture(reader)) }

        /// Decodes some rows of BGRA; how many, which is 0 if more bytes are needed.
        func rows(_ rows: UnsafeMutableRawPointer, _ stride: Int, _ capacity: Int) throws -> Int {
            var count: Int32 = 0
            let bytes = rows.assumingMemoryBound(to: UInt8.self)
            guard try step(jpeg_reader_rows(reader, bytes, stride, Int32(capacity), &count)) == .done else { return 0 }
            let pixels = Int(count) * stride / 4
            if !isInks {
                colours?.convert(rows, count: pixels)
            } else if let colours {
                colours.mix(rows, count: pixels)
            } else {
                Inks.mix(rows, count: pixels)
            }
            return Int(count)
        }

        private func step(_ result: Int32) throws -> Step {
            switch Int(result) {
            case JPEG_READER_DONE: return .done
            case JPEG_READER_NEEDS_DATA: return .needsData
            case JPEG_READER_MORE: return .more
            case JPEG_READER_SCAN_END: return .scanEnd
            default: throw ImageError.damaged(.jpeg, String(cString: jpeg_reader_message(reader)))
            }
        }

        private func finish(_ result: Int32) throws {
            if try step(result) != .done { throw ImageError.damaged(.jpeg, "a picture that does not end") }
        }
    }
#endif
