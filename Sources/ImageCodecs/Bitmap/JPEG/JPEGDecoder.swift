import Foundation
import SynchronizerSupport

/// Decodes JPEG with libjpeg-turbo. libjpeg decodes at full, half or quarter scale, and a filter does the rest.
enum JPEGDecoder: BitmapCodec {
    /// A file with several scans has all its coefficients in memory before the first row is made.
    static func workingBytes(_ bytes: ByteReader, plan: DecodePlan) -> Int {
        let strips = PixelSize(width: plan.stored.width, height: 4 * PictureAssembler.stripHeight).bytes
        return strips
            + JPEGHeader.coefficientBytes(bytes, lowFrequencyOnly: JPEGReduction(bytes, plan: plan).lowFrequencyOnly)
    }

    static func decode(_ bytes: ByteReader, plan: DecodePlan) throws -> BitmapImage {
        let reduction = JPEGReduction(bytes, plan: plan)
        guard let scans = reduction.scans else {
            return try decode(bytes, of: bytes, plan: plan, reduction: reduction)
        }
        try JPEGScanLimit(plan.stored).check(scans.count)
        return try scans.essential.withUnsafeBytes {
            try decode(ByteReader($0), of: bytes, plan: plan, reduction: reduction)
        }
    }

    /// - Parameter scans: The bytes that libjpeg gets: the whole file, or the file without the scans that it does not need.
    private static func decode(
        _ scans: ByteReader, of bytes: ByteReader, plan: DecodePlan, reduction: JPEGReduction
    ) throws -> BitmapImage {
        let reader = try JPEGReader()
        reader.give(scans, isComplete: true)
        guard let stored = try reader.readHeader(bytes), stored == plan.stored else {
            throw ImageError.corrupt(.jpeg, "the header and the stream have different sizes")
        }
        reader.convertColours(of: bytes)
        if reduction.lowFrequencyOnly, let image = try QuarterScaleDecoder.decode(reader, plan: plan) { return image }
        guard let size = try reader.start(eighths: reduction.eighths, lowFrequencyOnly: reduction.lowFrequencyOnly)
        else {
            throw truncated
        }
        if reader.hasScans {
            try absorb(reader, limit: JPEGScanLimit(stored))
            if reader.isTruncated, JPEGScans(bytes)?.endsInRefinement != true { throw truncated }
            try reader.startPicture(scan: reader.scan)
        }
        let picture = try PictureAssembler(plan, decoded: size, reduction: Double(reduction.eighths) / 8)
        while !picture.isComplete {
            try picture.nextRows { rows, stride, capacity in
                let count = try reader.rows(rows, stride: stride, capacity: capacity)
                // libjpeg replaces all missing rows with grey, and reports only a warning.
                if count == 0 || reader.isTruncated && !reader.hasScans { throw truncated }
                return count
            }
        }
        return picture.finish(scale: plan.scale, isOpaque: true)
    }

    private static let truncated = ImageError.corrupt(.jpeg, "the data ends too early")

    /// Reads all scans of a file that has several, a row of blocks at a time.
    private static func absorb(_ reader: JPEGReader, limit: JPEGScanLimit) throws {
        while true {
            try ParseCancellation.check()
            switch try reader.absorb() {
            case .done: return
            case .needsData: throw truncated
            case .more, .scanEnd: try limit.check(reader.scan)
            }
        }
    }
}

/// The largest number of scans that are decoded: 100, which is more than any encoder writes, or fewer if the picture has more
/// than 40 megapixels. Each scan costs a pass over the whole picture, however few bytes it has.
struct JPEGScanLimit {
    private static let scans = 100
    private static let pixels = 4_000_000_000

    private let limit: Int

    init(_ size: PixelSize) {
        limit = min(Self.scans, Self.pixels / max(size.area, 1))
    }

    func check(_ scan: Int) throws {
        if scan > limit { throw ImageError.corrupt(.jpeg, "more than \(limit) scans") }
    }
}
