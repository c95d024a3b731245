internal import CCodecs

/// libjpeg-turbo, one step at a time. libjpeg dictates the order of calls; a call out of order is an error.
final class JPEGReader {
    enum Step {
        case done
        /// libjpeg needs more bytes than it has been given so far.
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

    /// Gives all bytes received so far. They must stay in place until the next call of `give`, or as long as the reader is
    /// used.
    func give(_ bytes: ByteReader, isComplete: Bool) {
        let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        jpeg_reader_set_data(reader, address, bytes.count, isComplete ? 1 : 0)
    }

    /// Reads up to the first scan. Returns the stored size, or nil if more bytes are needed.
    /// - Parameter bytes: The file so far. If libjpeg needs more memory than `JPEGHeader` computes for it, this throws.
    func readHeader(_ bytes: ByteReader) throws -> PixelSize? {
        guard try step(jpeg_reader_read_header(reader, &header)) == .done else { return nil }
        if header.coefficient_bytes > UInt64(JPEGHeader.coefficientBytes(bytes)) {
            throw ImageError.corrupt(.jpeg, "ambiguous header")
        }
        return PixelSize(width: Int(header.width), height: Int(header.height))
    }

    /// Whether the file has several scans, which must be absorbed before there is a picture.
    var hasScans: Bool { header.multiscan != 0 }
    /// Whether the rows are CMYK.
    private var isCMYK: Bool { header.components == 4 }
    /// The colour model that a profile must have.
    private var colourModel: ColorTransform.Model {
        switch header.components {
        case 1: return .grey
        case 4: return .cmyk
        default: return .rgb
        }
    }
    /// Converts each row; nil if no profile changes the colours.
    private var colours: ColorTransform?

    /// Converts the following rows as the profile of the file says. Call it after the header has been read.
    func convertColours(of bytes: ByteReader) {
        colours = JPEGHeader.profile(bytes)?.withUnsafeBytes { ColorTransform(ByteReader($0), model: colourModel) }
    }

    /// The number of the scan that is being absorbed, from 1.
    var scan: Int { Int(jpeg_reader_scan(reader)) }
    /// Whether data were missing at the end, which libjpeg has replaced with grey.
    var isTruncated: Bool { jpeg_reader_is_truncated(reader) != 0 }

    /// Starts decoding at `eighths` / 8 of the stored size. Returns the size of the rows, or nil if more bytes are needed.
    /// - Parameter lowFrequencyOnly: Whether libjpeg keeps only the means and slopes of blocks, which suffice for two
    ///   eighths.
    func start(eighths: Int, lowFrequencyOnly: Bool = false) throws -> PixelSize? {
        var (width, height): (UInt32, UInt32) = (0, 0)
        let layout = Int32(isCMYK ? JPEG_ROWS_CMYK : JPEG_ROWS_BGRA)
        let result = jpeg_reader_start(
            reader, Int32(eighths), layout, header.multiscan, lowFrequencyOnly ? 1 : 0, &width, &height)
        return try step(result) == .done ? PixelSize(width: Int(width), height: Int(height)) : nil
    }

    /// Starts decoding at a quarter of the size with the faster decoder of `jpeg_quarter.h`. Returns the size of the rows,
    /// or nil if the file is not suitable. You can still call `start` afterwards.
    func startQuarterScale() -> PixelSize? {
        var (width, height): (UInt32, UInt32) = (0, 0)
        guard jpeg_reader_start_quarter(reader, &width, &height) == JPEG_READER_DONE else { return nil }
        return PixelSize(width: Int(width), height: Int(height))
    }

    /// Decodes some rows of BGRA. Returns their number, which is 0 if the file is corrupt.
    func quarterScaleRows(_ rows: UnsafeMutableRawPointer, stride: Int, capacity: Int) -> Int {
        var count: Int32 = 0
        let bytes = rows.assumingMemoryBound(to: UInt8.self)
        _ = jpeg_reader_quarter_rows(reader, bytes, stride, Int32(capacity), &count)
        colours?.convert(rows, count: Int(count) * stride / 4)
        return Int(count)
    }

    /// Reads at most one row of blocks.
    func absorb() throws -> Step { try step(jpeg_reader_absorb(reader)) }

    /// Starts a picture from the scans absorbed up to `scan`.
    func startPicture(scan: Int) throws { try finish(jpeg_reader_start_picture(reader, Int32(clamping: scan))) }

    func finishPicture() throws { try finish(jpeg_reader_finish_picture(reader)) }

    /// Decodes some rows of BGRA. Returns their number, which is 0 if more bytes are needed.
    func rows(_ rows: UnsafeMutableRawPointer, stride: Int, capacity: Int) throws -> Int {
        var count: Int32 = 0
        let bytes = rows.assumingMemoryBound(to: UInt8.self)
        guard try step(jpeg_reader_rows(reader, bytes, stride, Int32(capacity), &count)) == .done else { return 0 }
        let pixels = Int(count) * stride / 4
        if !isCMYK {
            colours?.convert(rows, count: pixels)
        } else if let colours {
            colours.mix(rows, count: pixels)
        } else {
            CMYKConversion.mix(rows, count: pixels)
        }
        return Int(count)
    }

    private func step(_ result: Int32) throws -> Step {
        switch Int(result) {
        case JPEG_READER_DONE: return .done
        case JPEG_READER_NEEDS_DATA: return .needsData
        case JPEG_READER_MORE: return .more
        case JPEG_READER_SCAN_END: return .scanEnd
        default: throw ImageError.corrupt(.jpeg, String(cString: jpeg_reader_message(reader)))
        }
    }

    private func finish(_ result: Int32) throws {
        if try step(result) != .done { throw ImageError.corrupt(.jpeg, "unfinished picture") }
    }
}
