import SynchronizerSupport

/// Previews of a JPEG. Those of a progressive file show the whole picture, finer with each scan; others grow from the top.
final class JPEGPreviewer: FormatPreviewer {
    private let plan: DecodePlan
    private let reader: JPEGReader
    private var eighths = 8
    private let limit: JPEGScanLimit
    private var hasHeader = false
    private var size: PixelSize?
    private var completeScans = 0
    private var shownScans = 0
    /// The picture from the top, unless the file is progressive.
    private var rows: PictureAssembler?
    private var shownRows = 0

    init(_ plan: DecodePlan) throws {
        self.plan = plan
        reader = try JPEGReader()
        limit = JPEGScanLimit(plan.stored)
    }

    /// The bytes that previews take in addition to those of a decode. Previews read all scans, and so hold all coefficients.
    static func bytesBeyondDecode(_ bytes: ByteReader, plan: DecodePlan) -> Int {
        JPEGHeader.coefficientBytes(bytes)
            - JPEGHeader.coefficientBytes(bytes, lowFrequencyOnly: JPEGReduction(bytes, plan: plan).lowFrequencyOnly)
    }

    func preview(of bytes: ByteReader) throws -> BitmapImage? {
        reader.give(bytes, isComplete: false)
        if !hasHeader, try reader.readHeader(bytes) != nil {
            hasHeader = true
            reader.convertColours(of: bytes)
        }
        if hasHeader, size == nil {
            eighths = JPEGReduction(bytes, plan: plan).eighths
            size = try reader.start(eighths: eighths)
        }
        guard let size else { return nil }
        return reader.hasScans ? try nextScans(size, arrived: JPEGScans.completeScans(bytes)) : try nextRows(size)
    }

    /// Absorbs only complete scans. Once a scan has begun, libjpeg smooths blocks as if that scan were complete, which can make a
    /// preview worse than the one before.
    private func nextScans(_ size: PixelSize, arrived: Int) throws -> BitmapImage? {
        absorbing: while completeScans < arrived {
            try ParseCancellation.check()
            switch try reader.absorb() {
            case .more: try limit.check(reader.scan)
            case .scanEnd: completeScans = reader.scan
            case .needsData, .done: break absorbing
            }
        }
        guard completeScans > shownScans else { return nil }
        let image = try picture(size)
        shownScans = completeScans
        return image
    }

    private func picture(_ size: PixelSize) throws -> BitmapImage {
        try reader.startPicture(scan: completeScans)
        let picture = try PictureAssembler(plan, decoded: size, reduction: Double(eighths) / 8)
        while !picture.isComplete {
            try picture.nextRows { rows, stride, capacity in
                let count = try reader.rows(rows, stride: stride, capacity: capacity)
                if count == 0 { throw ImageError.corrupt(.jpeg, "a scan has no rows") }
                return count
            }
        }
        try reader.finishPicture()
        return picture.finish(scale: plan.scale, isOpaque: true)
    }

    private func nextRows(_ size: PixelSize) throws -> BitmapImage? {
        let picture =
            try rows
            ?? PictureAssembler(plan, decoded: size, reduction: Double(eighths) / 8, startsCleared: true)
        rows = picture
        var hasMore = true
        while hasMore, !picture.isComplete {
            try picture.nextRows { rows, stride, capacity in
                let count = try reader.rows(rows, stride: stride, capacity: capacity)
                hasMore = count > 0
                return count
            }
        }
        guard picture.row > shownRows else { return nil }
        shownRows = picture.row
        return try picture.snapshot(scale: plan.scale)
    }
}
