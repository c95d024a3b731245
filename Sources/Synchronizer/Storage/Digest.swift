/// A 64-bit digest of bytes, to tell damage: one folded 64 × 64-bit multiplication for every 16 bytes, four at a time.
///
/// It is of the family of wyhash: several times faster than CRC-32 or SHA-256 in Swift, faster than memory can be
/// copied, and a flipped bit goes unseen once in 2⁶⁴ times. It does not withstand malice, and nothing here relies on
/// that: who can write into the cache directory can change the digests too. The values are in files, so that they must
/// stay the same on every machine and in every version of one schema.
struct Digest: Sendable {
    private static let first: UInt64 = 0x9E37_79B9_7F4A_7C15
    private static let second: UInt64 = 0xD1B5_4A32_D192_ED03
    private static let third: UInt64 = 0x8CB9_2BA7_2F3D_8DD7
    private static let fourth: UInt64 = 0xA3AA_AC63_BD66_CE1B
    private static let blockSize = 64

    private var lanes: (UInt64, UInt64, UInt64, UInt64)
    private var length: UInt64 = 0

    init(seed: UInt64 = 0) {
        lanes = (seed ^ Self.first, seed ^ Self.second, seed ^ Self.third, seed ^ Self.fourth)
    }

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var digest = Digest(seed: seed)
        digest.combine(bytes)
        return digest.value
    }

    /// Adds bytes. All but the last addition must be of a multiple of 64 bytes.
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        let blocks = bytes.count / Self.blockSize
        guard let start = bytes.baseAddress else { return }
        var (a, b, c, d) = lanes
        var block = start
        for _ in 0..<blocks {
            a = Self.fold(Self.word(block, 0) ^ Self.first, Self.word(block, 8) ^ a)
            b = Self.fold(Self.word(block, 16) ^ Self.second, Self.word(block, 24) ^ b)
            c = Self.fold(Self.word(block, 32) ^ Self.third, Self.word(block, 40) ^ c)
            d = Self.fold(Self.word(block, 48) ^ Self.fourth, Self.word(block, 56) ^ d)
            block += Self.blockSize
        }
        lanes = (a, b, c, d)
        combineTail(UnsafeRawBufferPointer(start: block, count: bytes.count - blocks * Self.blockSize))
    }

    private mutating func combineTail(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: bytes) }
        lanes.0 = Self.fold(words.0.littleEndian ^ Self.first, words.1.littleEndian ^ lanes.0)
        lanes.1 = Self.fold(words.2.littleEndian ^ Self.second, words.3.littleEndian ^ lanes.1)
        lanes.2 = Self.fold(words.4.littleEndian ^ Self.third, words.5.littleEndian ^ lanes.2)
        lanes.3 = Self.fold(words.6.littleEndian ^ Self.fourth, words.7.littleEndian ^ lanes.3)
    }

    var value: UInt64 {
        let one = Self.fold(lanes.0 ^ Self.second, lanes.1 ^ length)
        let other = Self.fold(lanes.2 ^ Self.fourth, lanes.3 ^ Self.first)
        return Self.fold(one ^ Self.third, other ^ length ^ Self.second)
    }

    @inline(__always)
    private static func word(_ block: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: block.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}

extension Digest {
    static func of(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }
}
