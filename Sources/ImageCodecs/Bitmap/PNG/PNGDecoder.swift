internal import CCodecs
import Foundation
import SynchronizerSupport

/// Decodes PNG with libpng, row by row. An interlaced image is decoded completely, and then scaled.
final class PNGDecoder {
    /// The largest size of a decompressed chunk, in bytes. The largest chunks that are read are colour profiles.
    private static let maximumChunk = 8 << 20

    private let reader: OpaquePointer
    /// The colours that the file names by numbers.
    private let codePoints: ColorCodePoints?

    init(_ bytes: ByteReader) throws {
        let address = bytes.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let reader = png_reader_open(address, bytes.count, Self.maximumChunk) else {
            throw ImageError.outOfMemory
        }
        self.reader = reader
        codePoints = Self.codePoints(bytes)
    }

    deinit {
        png_reader_close(reader)
    }

    /// Decodes a premultiplied picture from a file that was assembled in memory.
    /// - Parameter colours: Converts the colours.
    static func picture(_ bytes: ByteReader, size: PixelSize, colours: ColorTransform?) throws -> PixelBuffer {
        let decoder = try PNGDecoder(bytes)
        png_reader_ignore_checksums(decoder.reader)
        var header = png_reader_header()
        try decoder.check(png_reader_start(decoder.reader, &header))
        return try decoder.decodeWhole(size, colours: colours, isOpaque: header.transparent == 0)
    }

    /// The profile of a file, if it changes colours.
    static func colours(_ bytes: ByteReader) -> ColorTransform? {
        var header = png_reader_header()
        guard let decoder = try? PNGDecoder(bytes), png_reader_start(decoder.reader, &header) != 0 else {
            return nil
        }
        return decoder.colours(header)
    }

    /// The code points of RGB (W3C PNG §11.3.2.6). Numbers for YCbCr are invalid.
    private static func codePoints(_ bytes: ByteReader) -> ColorCodePoints? {
        guard let content = PNGChunks(bytes).beforePixels.first(where: { $0.has("cICP") })?.content,
            content.count == 4, let primaries = content.byte(0), let transfer = content.byte(1),
            content.byte(2) == 0, content.byte(3) == 1
        else { return nil }
        return ColorCodePoints(primaries: Int(primaries), transfer: Int(transfer))
    }

    /// Code points take precedence over the profile, unless they are not converted.
    private func colours(_ header: png_reader_header) -> ColorTransform? {
        if let codePoints, codePoints.areKnown { return .from(codePoints) }
        let profile = ByteReader(UnsafeRawBufferPointer(start: header.profile, count: header.profile_length))
        return ColorTransform(profile, model: header.grey != 0 ? .grey : .rgb)
    }

    func decode(_ plan: DecodePlan) throws -> BitmapImage {
        var header = png_reader_header()
        try check(png_reader_start(reader, &header))
        guard Int(header.width) == plan.stored.width, Int(header.height) == plan.stored.height else {
            throw ImageError.corrupt(.png, "the header and the stream have different sizes")
        }
        let isOpaque = header.transparent == 0
        let colours = colours(header)
        if header.interlaced != 0 {
            let whole = try decodeWhole(plan.stored, colours: colours, isOpaque: isOpaque)
            return try PictureAssembler.assemble(plan, whole: whole, isOpaque: isOpaque)
        }
        return try decodeRows(plan, colours: colours, isOpaque: isOpaque)
    }

    private func decodeRows(_ plan: DecodePlan, colours: ColorTransform?, isOpaque: Bool) throws -> BitmapImage {
        let picture = try PictureAssembler(plan, decoded: plan.stored)
        while !picture.isComplete {
            try picture.nextRows { rows, stride, count in
                try self.rows(rows, stride: stride, count: count)
                // Multiplied colours are less precise, so they are converted before.
                colours?.convert(rows, count: count * stride / 4)
                if !isOpaque { Premultiplication.multiply(rows, count: count * stride / 4) }
                return count
            }
        }
        return picture.finish(scale: plan.scale, isOpaque: isOpaque)
    }

    private func decodeWhole(_ size: PixelSize, colours: ColorTransform?, isOpaque: Bool) throws -> PixelBuffer {
        let whole = try PixelBuffer(size, cleared: true)
        try rows(whole.base, stride: whole.bytesPerRow, count: size.height)
        // The colours are not multiplied yet, so alpha does not matter.
        try colours?.apply(to: whole, isOpaque: true)
        if !isOpaque { try Premultiplication.multiply(whole) }
        return whole
    }

    private func rows(_ rows: UnsafeMutableRawPointer, stride: Int, count: Int) throws {
        let rows = rows.assumingMemoryBound(to: UInt8.self)
        let proceed: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { _ in
            ParseCancellation.isCancelled ? 0 : 1
        }
        guard png_reader_rows(reader, rows, stride, UInt32(count), proceed, nil) != 0 else {
            try ParseCancellation.check()
            throw corrupt()
        }
    }

    private func check(_ success: Int32) throws {
        if success == 0 { throw corrupt() }
    }

    private func corrupt() -> ImageError {
        .corrupt(.png, String(cString: png_reader_message(reader)))
    }
}
