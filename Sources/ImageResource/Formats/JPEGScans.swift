#if !canImport(ImageIO)
    import Foundation

    /// The scans of a progressive JPEG (ITU-T T.81 annex G), each of which refines what the ones before it have given.
    enum JPEGScans {
        private typealias Component = (id: UInt8, factors: (Int, Int))

        /// The file without the scans that say little of a picture at a quarter of its size; nil if the file does not go
        /// on to its end.
        ///
        /// There a block of 8 × 8 becomes four pixels, of its mean, which has scans of its own, and its slopes. Of these
        /// the first scan, which encoders cut off at two bits, is enough where the picture is made a good deal smaller
        /// still. Only of components that are stored at half the size all is taken. What is left out is most of a file,
        /// and of the time.
        static func forQuarter(_ bytes: ByteReader) -> Data? {
            var components: [Component] = []
            var (kept, start, offset) = (Data(), 0, 2)
            while let lead = bytes.byte(offset), let marker = bytes.byte(offset + 1) {
                if lead != 0xFF || marker == 0xFF {
                    offset += 1
                } else if marker == 0x00 || marker == 0x01 || (0xD0...0xD8).contains(marker) {
                    offset += 2
                } else if marker == 0xD9 {
                    kept.append(contentsOf: bytes.bytes[start..<offset + 2])
                    return kept
                } else {
                    guard let length = bytes.big16(offset + 2).map({ max($0, 2) }),
                        let segment = bytes.part(from: offset + 4, count: length - 2)
                    else { return nil }
                    var end = offset + 2 + length
                    if marker == 0xC2 || marker == 0xCA {
                        components = self.components(segment)
                    } else if marker == 0xDA {
                        end = endOfData(bytes, from: end)
                        if isFine(segment, components) {
                            kept.append(contentsOf: bytes.bytes[start..<offset])
                            start = min(end, bytes.count)
                        }
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

        /// Whether a scan is neither of the mean nor the first of the slopes, for a component of which only those are
        /// wanted (T.81 §B.2.3).
        private static func isFine(_ scan: ByteReader, _ components: [Component]) -> Bool {
            guard scan.byte(0) == 1, let id = scan.byte(1), let first = scan.byte(3), first > 0,
                let bits = scan.byte(5)
            else { return false }
            // The second coefficient in the order of the zigzag is the slope across, the third that down.
            if first <= 2, bits >> 4 == 0 { return false }
            guard let component = components.first(where: { $0.id == id }) else { return false }
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
