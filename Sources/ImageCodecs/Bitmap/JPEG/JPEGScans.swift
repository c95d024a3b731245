#if !canImport(ImageIO)
    import Foundation

    /// The scans of a progressive JPEG (ITU-T T.81 annex G), each of which refines what the ones before it have given.
    ///
    /// At a quarter of the size a block of 8 × 8 becomes four pixels, of its mean, which has scans of its own, and its slopes.
    /// Of these the first scan, which encoders cut off at two bits, is enough where the picture is made a good deal smaller
    /// still. The others are refinement, except those of components that are stored at half the size. They are most of a
    /// file, and of the time.
    struct JPEGScans {
        private typealias Component = (id: UInt8, factors: (Int, Int))

        /// The file without its refinement.
        private(set) var essential = Data()
        /// The number of scans.
        private(set) var count = 0
        /// Whether the last scan is refinement. If that is cut short, no size of the picture misses a pixel, and it is
        /// accepted at every size.
        private(set) var endsInRefinement = false

        /// Nil if the file does not go on to its end.
        init?(_ bytes: ByteReader) {
            var (components, tables): ([Component], Set<UInt8>) = ([], [])
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
                    guard let length = bytes.big16(offset + 2).map({ max($0, 2) }),
                        let segment = bytes.part(from: offset + 4, count: length - 2)
                    else { return nil }
                    var end = offset + 2 + length
                    switch marker {
                    case 0xC2: components = Self.components(segment)
                    case 0xCA:
                        components = Self.components(segment)
                        tables = Set(0...15)  // Arithmetic codes need none.
                    case 0xC4: tables.formUnion(Self.tables(segment))
                    case 0xDA:
                        end = Self.endOfData(bytes, from: end)
                        count += 1
                        endsInRefinement = Self.isRefinement(segment, components, tables)
                        if endsInRefinement {
                            essential.append(contentsOf: bytes.bytes[start..<offset])
                            start = min(end, bytes.count)
                        }
                    default: break
                    }
                    offset = end
                }
            }
            return nil
        }

        /// T.81 §B.2.2.
        private static func components(_ frame: ByteReader) -> [Component] {
            JPEGSampling.factors(frame).enumerated().compactMap { index, factors in
                frame.byte(6 + index * 3).map { (id: $0, factors: factors) }
            }
        }

        /// The numbers of the Huffman tables of slopes that a segment defines (T.81 §B.2.4.2).
        private static func tables(_ segment: ByteReader) -> [UInt8] {
            var (numbers, offset): ([UInt8], Int) = ([], 0)
            while let name = segment.byte(offset), segment.has(17, at: offset) {
                if name >> 4 == 1 { numbers.append(name & 15) }
                offset += 17 + segment.bytes[offset + 1..<offset + 17].reduce(0) { $0 + Int($1) }
            }
            return numbers
        }

        /// Whether a scan (T.81 §B.2.3) is neither of the mean nor the first of the slopes, for a component of which only
        /// those are wanted. One that makes no sense is not, so that libjpeg sees it and refuses the file at every size.
        private static func isRefinement(_ scan: ByteReader, _ components: [Component], _ tables: Set<UInt8>) -> Bool {
            guard scan.count == 6, scan.byte(0) == 1, let id = scan.byte(1), let table = scan.byte(2),
                let first = scan.byte(3), let last = scan.byte(4), let bits = scan.byte(5),
                let component = components.first(where: { $0.id == id })
            else { return false }
            let (high, low) = (bits >> 4, bits & 15)
            guard first > 0, first <= last, last < 64, low <= 13, high == 0 || high == low + 1,
                tables.contains(table & 15)
            else { return false }
            // The second coefficient in the order of the zigzag is the slope across, the third that down.
            if first <= 2, high == 0 { return false }
            let largest = (components.map(\.factors.0).max() ?? 1, components.map(\.factors.1).max() ?? 1)
            return !JPEGSampling.isHalved(component.factors, of: largest)
        }

        /// Where the next marker begins that is not part of the data.
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
#endif

/// How components are sampled (T.81 §A.1.1).
enum JPEGSampling {
    /// The factors of each component of a frame, across and down (T.81 §B.2.2).
    static func factors(_ frame: ByteReader) -> [(Int, Int)] {
        (0..<Int(frame.byte(5) ?? 0)).compactMap { component in
            frame.byte(7 + component * 3).map { (Int($0 >> 4), Int($0 & 15)) }
        }
    }

    /// Whether a component with these factors, across and down, is stored at half the size of the largest or less.
    /// libjpeg enlarges such a one by decoding it at twice the scale.
    static func isHalved(_ factors: (Int, Int), of largest: (Int, Int)) -> Bool {
        guard factors.0 > 0, factors.1 > 0 else { return false }
        return largest.0 % (2 * factors.0) == 0 && largest.1 % (2 * factors.1) == 0
    }
}
