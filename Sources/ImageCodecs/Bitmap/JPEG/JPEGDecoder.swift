#if !canImport(ImageIO)
    import Foundation
    import Synchronizer

    /// JPEG by libjpeg-turbo: scaled in the decoder to some times what is wanted, the rest by a filter.
    enum JPEGDecoder: BitmapCodec {
        /// One that comes in several scans has its coefficients in memory before its first row is made.
        static func workingBytes(_ bytes: ByteReader, _ plan: DecodePlan) -> Int {
            let strips = PixelSize(width: plan.stored.width, height: 4 * PictureAssembler.stripHeight).bytes
            return strips + JPEGHeader.coefficientBytes(bytes, isCoarse: JPEGReduction(bytes, plan).isCoarse)
        }

        static func decode(_ bytes: ByteReader, _ plan: DecodePlan) throws -> BitmapImage {
            let reduction = JPEGReduction(bytes, plan)
            guard reduction.isCoarse, JPEGHeader.isProgressive(bytes) else {
                return try decode(bytes, bytes, plan, reduction)
            }
            guard let scans = JPEGScans(bytes) else { throw truncated }
            try JPEGScanLimit(plan.stored).check(scans.count)
            return try scans.essential.withUnsafeBytes { try decode(ByteReader($0), bytes, plan, reduction) }
        }

        /// - Parameter scans: The file as it is given to libjpeg; all of it, or what it needs of it.
        private static func decode(
            _ scans: ByteReader, _ bytes: ByteReader, _ plan: DecodePlan, _ reduction: JPEGReduction
        ) throws -> BitmapImage {
            let reader = try JPEGReader()
            reader.give(scans, isComplete: true)
            guard let stored = try reader.readHeader(bytes), stored == plan.stored else {
                throw ImageError.damaged(.jpeg, "two sizes")
            }
            reader.convertColours(of: bytes)
            if reduction.isCoarse, let image = try JPEGQuarter.decode(reader, plan) { return image }
            guard let size = try reader.start(eighths: reduction.eighths, isCoarse: reduction.isCoarse) else {
                throw truncated
            }
            if reader.hasScans {
                try absorb(reader, JPEGScanLimit(stored))
                if reader.isTruncated, JPEGScans(bytes)?.endsInRefinement != true { throw truncated }
                try reader.startPicture(scan: reader.scan)
            }
            let picture = try PictureAssembler(plan, decoded: size, reduction: Double(reduction.eighths) / 8)
            while !picture.isComplete {
                try picture.nextRows { rows, stride, capacity in
                    let count = try reader.rows(rows, stride, capacity)
                    // What is missing is filled with grey, and there may be no end of that.
                    if count == 0 || reader.isTruncated && !reader.hasScans { throw truncated }
                    return count
                }
            }
            return picture.finish(scale: plan.scale, isOpaque: true)
        }

        private static let truncated = ImageError.damaged(.jpeg, "the data end too early")

        /// Takes in all scans of a file that has several, a row of blocks at a time.
        private static func absorb(_ reader: JPEGReader, _ limit: JPEGScanLimit) throws {
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

    /// How many scans are decoded: more than any encoder writes, and no more pixels in all of them together than 40
    /// scans of the largest picture have. Each scan costs a pass over the whole picture, however few bytes it has.
    struct JPEGScanLimit {
        private static let scans = 100
        private static let pixels = 4_000_000_000

        private let limit: Int

        init(_ size: PixelSize) {
            limit = min(Self.scans, Self.pixels / max(size.area, 1))
        }

        func check(_ scan: Int) throws {
            if scan > limit { throw ImageError.damaged(.jpeg, "more than \(limit) scans") }
        }
    }
#endif
