#if HEIC
    /// What an HEVC decoder will allocate, from the headers of the NAL units (ITU-T H.265 §7.3).
    struct HEVCStream {
        /// The pixels of the largest picture that a sequence parameter set declares.
        private(set) var largestArea = 0
        private(set) var pictureParameterSets = 0
        private(set) var pictures = 0
        /// Whether a picture may have reference pictures. The decoder creates grey ones in place of missing ones.
        private(set) var canRefer = false

        /// Reads the parameter sets of an `hvcC` box (ISO/IEC 14496-15 §8.3.2.1). Returns false if the box is invalid.
        mutating func add(configuration box: ByteReader) -> Bool {
            guard let arrays = box.byte(22) else { return false }
            var offset = 23
            for _ in 0..<arrays {
                guard let count = box.big16(offset + 1) else { return false }
                offset += 3
                for _ in 0..<count {
                    guard let length = box.big16(offset), box.has(length, at: offset + 2),
                        let unit = box.part(from: offset + 2, count: length), add(unit)
                    else { return false }
                    offset += 2 + length
                }
            }
            return true
        }

        /// Reads the units of an item as libheif does. A length of four bytes precedes each unit. Returns false if the item is
        /// invalid.
        mutating func add(item bytes: ByteReader) -> Bool {
            var (offset, left) = (0, HeaderLimit.parts)
            while offset < bytes.count {
                left -= 1
                guard left >= 0, let length = bytes.big32(offset), bytes.has(length, at: offset + 4),
                    let unit = bytes.part(from: offset + 4, count: length), add(unit)
                else { return false }
                offset += 4 + length
            }
            return true
        }

        /// Whether the unit belongs to a still picture (§7.4.2.2, table 7-1).
        private mutating func add(_ unit: ByteReader) -> Bool {
            guard let first = unit.byte(0) else { return false }
            switch first >> 1 & 63 {
            case 19, 20: addSlice(unit)  // of an IDR picture
            case 16...18, 21:  // BLA and CRA pictures
                addSlice(unit)
                canRefer = true
            case 0...31: return false  // of pictures that cannot stand alone
            case 33:
                guard let area = SequenceParameterSet.area(unit) else { return false }
                largestArea = max(largestArea, area)
            case 34: pictureParameterSets += 1
            default: break
            }
            return true
        }

        private mutating func addSlice(_ unit: ByteReader) {
            if let flags = unit.byte(2), flags & 0x80 != 0 { pictures += 1 }
        }
    }

    /// The beginning of a sequence parameter set (ITU-T H.265 §7.3.2.2.1).
    private enum SequenceParameterSet {
        /// The largest size of its pictures, rounded up to blocks of 64 pixels.
        static func area(_ unit: ByteReader) -> Int? {
            var bits = BitReader(unit)
            bits.skip(16 + 4)
            guard let layers = bits.read(3), layers < 7 else { return nil }
            bits.skip(1)
            skipProfile(&bits, layers: layers)
            guard bits.readExponential() != nil, let chroma = bits.readExponential() else { return nil }
            if chroma == 3 { bits.skip(1) }
            guard let width = bits.readExponential(), let height = bits.readExponential() else { return nil }
            return ((width + 63) & ~63) * ((height + 63) & ~63)
        }

        /// Skips the profile, tier and level (§7.3.3).
        private static func skipProfile(_ bits: inout BitReader, layers: Int) {
            bits.skip(96)
            let present = (0..<layers).map { _ in (profile: bits.read(1) == 1, level: bits.read(1) == 1) }
            if layers > 0 { bits.skip(2 * (8 - layers)) }
            for layer in present {
                if layer.profile { bits.skip(88) }
                if layer.level { bits.skip(8) }
            }
        }
    }

    /// Reads bits, and skips emulation prevention bytes (ITU-T H.265 §7.4.2).
    private struct BitReader {
        private let bytes: ByteReader
        private var offset = 0
        private var zeros = 0
        private var left = 0
        private var current: UInt8 = 0

        init(_ bytes: ByteReader) {
            self.bytes = bytes
        }

        mutating func skip(_ count: Int) {
            for _ in 0..<count { _ = bit() }
        }

        mutating func read(_ count: Int) -> Int? {
            var value = 0
            for _ in 0..<count {
                guard let bit = bit() else { return nil }
                value = value << 1 | bit
            }
            return value
        }

        /// Reads an Exponential-Golomb code (§9.2). At most twenty leading zeros are allowed, more than any length needs.
        mutating func readExponential() -> Int? {
            var zeros = 0
            while let bit = bit() {
                if bit == 1 { return read(zeros).map { (1 << zeros) - 1 + $0 } }
                zeros += 1
                if zeros > 20 { return nil }
            }
            return nil
        }

        private mutating func bit() -> Int? {
            if left == 0 {
                guard nextByte() else { return nil }
            }
            left -= 1
            return Int(current >> left & 1)
        }

        private mutating func nextByte() -> Bool {
            if zeros >= 2, bytes.byte(offset) == 3 {
                offset += 1
                zeros = 0
            }
            guard let byte = bytes.byte(offset) else { return false }
            offset += 1
            zeros = byte == 0 ? zeros + 1 : 0
            (current, left) = (byte, 8)
            return true
        }
    }
#endif
