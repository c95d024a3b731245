/// Reads untrusted bytes. Reading out of range gives nil and never traps.
struct ByteReader {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }

    func byte(_ offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[offset] : nil
    }

    func big16(_ offset: Int) -> Int? {
        guard has(2, at: offset) else { return nil }
        return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    func little16(_ offset: Int) -> Int? {
        guard has(2, at: offset) else { return nil }
        return Int(bytes[offset + 1]) << 8 | Int(bytes[offset])
    }

    func little24(_ offset: Int) -> Int? {
        guard has(3, at: offset) else { return nil }
        return Int(bytes[offset + 2]) << 16 | Int(bytes[offset + 1]) << 8 | Int(bytes[offset])
    }

    func bigWord(_ offset: Int) -> UInt32? {
        guard has(4, at: offset) else { return nil }
        return UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    func littleWord(_ offset: Int) -> UInt32? { bigWord(offset)?.byteSwapped }

    // A number that `Int` can't represent is nil. On a Watch, `Int` has 32 bits.
    func big32(_ offset: Int) -> Int? { bigWord(offset).flatMap(Int.init(exactly:)) }

    func little32(_ offset: Int) -> Int? { littleWord(offset).flatMap(Int.init(exactly:)) }

    func big64(_ offset: Int) -> Int? {
        guard let high = bigWord(offset), let low = bigWord(offset + 4) else { return nil }
        return Int(exactly: UInt64(high) << 32 | UInt64(low))
    }

    /// Whether an ASCII text begins at an offset.
    func has(_ text: StaticString, at offset: Int) -> Bool {
        guard has(text.utf8CodeUnitCount, at: offset) else { return false }
        return text.withUTF8Buffer { bytes[offset..<offset + $0.count].elementsEqual($0) }
    }

    /// The part from an offset on, cut to the available bytes; nil if the offset is out of range.
    func part(from offset: Int, count: Int) -> ByteReader? {
        guard offset >= 0, offset <= bytes.count, count >= 0 else { return nil }
        return ByteReader(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + min(count, bytes.count - offset)]))
    }

    /// Whether `length` bytes from an offset on are in range.
    func has(_ length: Int, at offset: Int) -> Bool {
        offset >= 0 && length >= 0 && offset <= bytes.count - length
    }

    /// The offset of a part of these bytes.
    func offset(of part: ByteReader) -> Int? {
        guard let start = bytes.baseAddress, let address = part.bytes.baseAddress else { return nil }
        return start.distance(to: address)
    }
}
