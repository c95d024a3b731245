import Foundation

/// The scans of a progressive JPEG (ITU-T T.81 annex G). Each one refines the scans before it.
///
/// At a quarter of the size, a block of 8 × 8 becomes four pixels, computed from its mean and slopes. The means have scans of
/// their own. For the slopes, their first scan suffices if the picture is then made much smaller; encoders omit the two lowest
/// bits in it. All other scans are called refinement here, except those of components that are stored at half the size.
/// Refinement is most of a file, and takes most of the time.
struct JPEGScans {
    private typealias Component = (id: UInt8, factors: (Int, Int))

    /// The file without refinement scans.
    private(set) var essential = Data()
    /// The number of scans.
    private(set) var count = 0
    /// Whether the last scan is refinement. If only that scan is cut short, the picture has all its pixels at every size,
    /// so the file is accepted at every size.
    private(set) var endsInRefinement = false

    private var components: [Component] = []
    /// The ids of the components that had a scan.
    private var begun: Set<UInt8> = []
    private var tables = JPEGTables()

    /// Returns nil if no scan can be left out: the file has no end marker, or a marker that is not defined. Inside of data with
    /// restart markers, libjpeg skips such a marker, and otherwise refuses the file. Only libjpeg knows where a scan ends then.
    init?(_ bytes: ByteReader) {
        var (start, offset) = (0, 2)
        while let lead = bytes.byte(offset), let marker = bytes.byte(offset + 1) {
            if lead != 0xFF || marker == 0xFF {
                offset += 1
            } else if marker == 0x00 || marker == 0x01 || (0xD0...0xD8).contains(marker) {
                offset += 2
            } else if marker == 0xD9 {
                essential.append(contentsOf: bytes.bytes[start..<offset + 2])
                return
            } else {
                guard marker >= 0xC0, let length = bytes.big16(offset + 2).map({ max($0, 2) }),
                    let segment = bytes.part(from: offset + 4, count: length - 2)
                else { return nil }
                var end = offset + 2 + length
                if marker == 0xDA {
                    end = Self.endOfData(bytes, from: end)
                    note(scan: segment)
                    if endsInRefinement {
                        essential.append(contentsOf: bytes.bytes[start..<offset])
                        start = min(end, bytes.count)
                    }
                } else {
                    note(marker, of: segment)
                }
                offset = end
            }
        }
        return nil
    }

    private mutating func note(_ marker: UInt8, of segment: ByteReader) {
        switch marker {
        case 0xC2, 0xCA:
            components = Self.components(segment)
            tables.areNeeded = marker == 0xC2
        case 0xC4: tables.define(segment)
        default: break
        }
    }

    private mutating func note(scan: ByteReader) {
        count += 1
        endsInRefinement = isRefinement(scan)
        begun.formUnion((0..<Int(scan.byte(0) ?? 0)).compactMap { scan.byte(1 + $0 * 2) })
    }

    /// The components of a frame (T.81 §B.2.2). There are none if two have the same id, because libjpeg alone knows which
    /// of them a scan contains. Then no scan is refinement.
    private static func components(_ frame: ByteReader) -> [Component] {
        let all = JPEGSampling.factors(frame).enumerated().compactMap { index, factors in
            frame.byte(6 + index * 3).map { (id: $0, factors: factors) }
        }
        return Set(all.map(\.id)).count == all.count ? all : []
    }

    /// Whether a scan (T.81 §B.2.3) is refinement: it has neither the means nor the first bits of the slopes, and its component
    /// needs nothing else. An invalid scan does not count as refinement, so that libjpeg sees it and refuses the file at every
    /// size.
    ///
    /// The first scan of a component does not count either. When it begins, libjpeg stores the component's quantization
    /// table, and refuses the file if there is none. A file also needs at least one scan.
    private func isRefinement(_ scan: ByteReader) -> Bool {
        guard scan.count == 6, scan.byte(0) == 1, let id = scan.byte(1), let table = scan.byte(2),
            let first = scan.byte(3), let last = scan.byte(4), let bits = scan.byte(5),
            let component = components.first(where: { $0.id == id }), begun.contains(id)
        else { return false }
        let (high, low) = (bits >> 4, bits & 15)
        guard first > 0, first <= last, last < 64, low <= 13, high == 0 || high == low + 1,
            tables.isUsable(table & 15)
        else { return false }
        // In zigzag order the second coefficient is the slope across, and the third is the slope down.
        if first <= 2, high == 0 { return false }
        let largest = (components.map(\.factors.0).max() ?? 1, components.map(\.factors.1).max() ?? 1)
        return !JPEGSampling.isHalved(component.factors, of: largest)
    }

    /// The number of complete scans in the part of a file that has arrived. The last one counts once the header of the next scan or
    /// the end marker has arrived, because libjpeg reads that far to make a picture.
    static func completeScans(_ bytes: ByteReader) -> Int {
        var (begun, offset) = (0, 2)
        while let lead = bytes.byte(offset), let marker = bytes.byte(offset + 1), marker != 0xD9 || lead != 0xFF {
            if lead != 0xFF || marker == 0xFF {
                offset += 1
            } else if marker == 0x00 || marker == 0x01 || (0xD0...0xD8).contains(marker) {
                offset += 2
            } else {
                offset += 2 + max(bytes.big16(offset + 2) ?? 0, 2)
                guard marker == 0xDA, offset <= bytes.count else { continue }
                begun += 1
                offset = endOfData(bytes, from: offset)
            }
        }
        return bytes.byte(offset + 1) == 0xD9 ? begun : max(begun - 1, 0)
    }

    /// The offset of the next marker that does not belong to the entropy-coded data.
    private static func endOfData(_ bytes: ByteReader, from start: Int) -> Int {
        guard let base = bytes.bytes.baseAddress, start < bytes.count else { return bytes.count }
        var offset = start
        while offset < bytes.count, let found = memchr(base + offset, 0xFF, bytes.count - offset) {
            offset = base.distance(to: UnsafeRawPointer(found))
            guard let next = bytes.byte(offset + 1) else { return bytes.count }
            if next != 0x00, next != 0xFF, !(0xD0...0xD7).contains(next) { return offset }
            offset += next == 0xFF ? 1 : 2
        }
        return bytes.count
    }
}

/// The Huffman tables for the coefficients other than means. libjpeg checks a table when a scan that uses it begins. So the
/// tables of scans that libjpeg does not see are checked here, in the same way.
struct JPEGTables {
    /// Whether scans need tables. Arithmetic coding needs none.
    var areNeeded = true
    private var usable: Set<UInt8> = []

    /// Whether a scan may use the table with this number.
    func isUsable(_ number: UInt8) -> Bool { !areNeeded || usable.contains(number) }

    /// Reads a segment that defines tables (T.81 §B.2.4.2). A later table replaces an earlier one of the same number.
    mutating func define(_ segment: ByteReader) {
        var offset = 0
        while let name = segment.byte(offset), segment.has(17, at: offset) {
            let lengths = segment.bytes[offset + 1..<offset + 17].map(Int.init)
            if name >> 4 == 1 {
                usable.remove(name & 15)
                if Self.isPrefixCode(lengths) { usable.insert(name & 15) }
            }
            offset += 17 + lengths.reduce(0, +)
        }
    }

    /// Whether codes can be assigned (T.81 annex C), given the number of codes of each length from 1 bit. No code consists
    /// of ones alone.
    private static func isPrefixCode(_ lengths: [Int]) -> Bool {
        var code = 0
        for (index, count) in lengths.enumerated() {
            code = code << 1 + count
            if code >= 1 << (index + 1) { return false }
        }
        return true
    }
}
