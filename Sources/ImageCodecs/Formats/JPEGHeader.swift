import Foundation

/// Walks the marker segments of a JPEG (ITU-T T.81 annex B) up to its first scan.
enum JPEGHeader {
    private static let scan: UInt8 = 0xDA
    /// The largest number of segments, and of bytes between them, to visit before the first scan.
    private static let mostSteps = 16 * HeaderLimit.parts

    static func read(_ bytes: ByteReader) -> HeaderFacts? {
        // Browsers read the first of several Exif segments.
        var orientation: ImageOrientation?
        var size: (width: Int, height: Int)?
        walk(bytes) { marker, segment in
            if marker == 0xE1, orientation == nil { orientation = exif(segment) }
            if isFrame(marker), size == nil, let height = segment.big16(1), let width = segment.big16(3) {
                size = (width, height)
            }
            return true
        }
        return size.map { HeaderFacts(width: $0.width, height: $0.height, orientation: orientation ?? .up) }
    }

    /// Calls `visit` with each segment up to the header of the first scan, until it returns false.
    static func walk(_ bytes: ByteReader, _ visit: (_ marker: UInt8, _ segment: ByteReader) -> Bool) {
        var (offset, steps) = (2, 0)
        while steps < mostSteps, let lead = bytes.byte(offset), let marker = bytes.byte(offset + 1) {
            steps += 1
            if lead != 0xFF || marker == 0xFF {
                offset += 1  // Fill bytes, or foreign bytes between segments. Other decoders skip them, too.
            } else if marker == 0x00 || marker == 0x01 || (0xD0...0xD8).contains(marker) {
                offset += 2
            } else if marker == 0xD9 {
                return
            } else {
                // The length includes its own two bytes. A smaller one means no content, as in libjpeg.
                guard let length = bytes.big16(offset + 2).map({ max($0, 2) }) else { return }
                guard let segment = bytes.part(from: offset + 4, count: length - 2) else { return }
                guard visit(marker, segment), marker != scan else { return }
                offset += 2 + length
            }
        }
    }

    /// SOF0 to SOF15. The markers DHT, JPG and DAC lie in the same range, but begin no frame.
    private static func isFrame(_ marker: UInt8) -> Bool {
        (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
    }

    /// Whether the first scan has begun, so that everything before it is known.
    static func isComplete(_ bytes: ByteReader) -> Bool {
        var isComplete = false
        walk(bytes) { marker, segment in
            isComplete = marker == scan && segment.count > 0
            return true
        }
        return isComplete
    }

    /// Whether the frame is progressive (T.81 §4.11).
    static func isProgressive(_ bytes: ByteReader) -> Bool {
        var isProgressive = false
        walk(bytes) { marker, _ in
            if isFrame(marker) { isProgressive = marker & 3 == 2 }
            return !isFrame(marker)
        }
        return isProgressive
    }

    /// Whether the frame has four components, which are CMYK inks.
    static func isCMYK(_ bytes: ByteReader) -> Bool {
        var count: UInt8?
        walk(bytes) { marker, segment in
            if isFrame(marker) { count = segment.byte(5) }
            return !isFrame(marker)
        }
        return count == 4
    }

    /// The bytes of all coefficients if the decoder has to hold them, because the file has several scans; otherwise 0.
    /// - Parameter lowFrequencyOnly: Whether the decoder keeps only the means and slopes of blocks, for a quarter of the
    ///   size.
    static func coefficientBytes(_ bytes: ByteReader, lowFrequencyOnly: Bool = false) -> Int {
        var (all, components, isProgressive) = (0, 0, false)
        var isScattered = false
        walk(bytes) { marker, segment in
            if isFrame(marker) {
                all = coefficientBytes(frame: segment, lowFrequencyOnly: lowFrequencyOnly) ?? 0
                components = segment.byte(5).map(Int.init) ?? 0
                isProgressive = marker & 3 == 2
            } else if marker == scan {
                isScattered = segment.byte(0).map { $0 < components } ?? false
            }
            return true
        }
        return isProgressive || isScattered ? all : 0
    }

    /// The largest ratio between the samples of two components, across and down; 1 if it is unknown.
    static func subsampling(_ bytes: ByteReader) -> (across: Int, down: Int) {
        var largest = (across: 1, down: 1)
        walk(bytes) { marker, segment in
            guard isFrame(marker) else { return true }
            let factors = JPEGSampling.factors(segment)
            largest = (ratio(factors.map(\.0)), ratio(factors.map(\.1)))
            return false
        }
        return largest
    }

    private static func ratio(_ factors: [Int]) -> Int {
        guard let most = factors.max(), let least = factors.min(), least > 0 else { return 1 }
        return most / least
    }

    /// The frame header has lines, samples per line and components (T.81 §B.2.2).
    private static func coefficientBytes(frame: ByteReader, lowFrequencyOnly: Bool) -> Int? {
        guard let height = frame.big16(1), let width = frame.big16(3) else { return nil }
        let factors = JPEGSampling.factors(frame)
        let (across, down) = (factors.map(\.0).max() ?? 1, factors.map(\.1).max() ?? 1)
        guard across > 0, down > 0 else { return nil }
        return factors.reduce(0) { sum, factor in
            let all = (width * factor.0 / across + 16) * (height * factor.1 / down + 16) * 2
            guard lowFrequencyOnly, !JPEGSampling.isHalved(factor, of: (across, down)) else { return sum + all }
            // Four of 64 coefficients, and the rows of whole blocks that libjpeg has in use.
            return sum + all / 16 + (width + 16) * 128
        }
    }

    /// The colour profile, which comes in parts (ICC.1 §B.4). Each part is in its own segment, with its number from 1 and
    /// the total number. If parts are missing or repeated or disagree about the total, the profile is ignored, as in
    /// libjpeg and browsers.
    static func profile(_ bytes: ByteReader) -> Data? {
        var parts: [Int: ByteReader] = [:]
        var (count, isConsistent) = (Int?.none, true)
        walk(bytes) { marker, segment in
            guard marker == 0xE2, segment.has("ICC_PROFILE\0", at: 0), let number = segment.byte(12).map(Int.init),
                let all = segment.byte(13).map(Int.init)
            else { return true }
            isConsistent = all == count ?? all && (1...max(all, 1)).contains(number) && parts[number] == nil
            count = all
            parts[number] = segment.part(from: 14, count: .max)
            return isConsistent
        }
        guard isConsistent, let count, count > 0, parts.count == count else { return nil }
        return (1...count).reduce(into: Data()) { data, number in
            parts[number].map { data.append(contentsOf: $0.bytes) }
        }
    }

    private static func exif(_ segment: ByteReader) -> ImageOrientation? {
        guard segment.has("Exif\0\0", at: 0) else { return nil }
        return Exif.orientation(segment)
    }
}

/// How components are sampled (T.81 §A.1.1).
enum JPEGSampling {
    /// The sampling factors of each component of a frame, across and down (T.81 §B.2.2).
    static func factors(_ frame: ByteReader) -> [(Int, Int)] {
        (0..<Int(frame.byte(5) ?? 0)).compactMap { component in
            frame.byte(7 + component * 3).map { (Int($0 >> 4), Int($0 & 15)) }
        }
    }

    /// Whether a component is stored at half the size of the largest component or less. libjpeg enlarges such a component
    /// by decoding it at twice the scale.
    static func isHalved(_ factors: (Int, Int), of largest: (Int, Int)) -> Bool {
        guard factors.0 > 0, factors.1 > 0 else { return false }
        return largest.0 % (2 * factors.0) == 0 && largest.1 % (2 * factors.1) == 0
    }
}
