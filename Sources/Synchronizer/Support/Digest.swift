/// A 64-bit digest of bytes, to tell damage: one folded 64 × 64-bit multiplication for every 16 bytes, eight at a time.
///
/// It is of the family of wyhash: many times faster than CRC-32 or SHA-256 in Swift, about as fast as memory is read,
/// and a flipped bit goes unseen once in 2⁶⁴ times. It does not withstand malice, and nothing here relies on that: who
/// can write into the cache directory can change the digests too. The values are in files, so that they must stay the
/// same on every machine and in every version of one schema.
struct Digest: Sendable {
    private typealias Lanes = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    // Odd numbers with about as many ones as zeros, without a pattern: the golden ratio's bits, and multiples of it.
    private static let keys: Lanes = (
        0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03, 0x8CB9_2BA7_2F3D_8DD7, 0xA3AA_AC63_BD66_CE1B,
        0xDAA6_6D2C_7DDF_743F, 0xE703_7ED1_A0B4_28DB, 0x589A_6AE2_0ABD_E45D, 0xC6BC_2796_92B5_C323
    )
    static let blockSize = 128

    private var lanes: Lanes
    private var length: UInt64 = 0

    init(seed: UInt64 = 0) {
        let k = Self.keys
        lanes = (
            seed ^ k.7, seed ^ k.6, seed ^ k.5, seed ^ k.4, seed ^ k.3, seed ^ k.2, seed ^ k.1, seed ^ k.0
        )
    }

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var digest = Digest(seed: seed)
        digest.combine(bytes)
        return digest.value
    }

    static func of(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    /// Adds bytes. All but the last addition must be of a multiple of `blockSize`.
    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        length &+= UInt64(bytes.count)
        let blocks = bytes.count / Self.blockSize
        var lanes = self.lanes
        var block = start
        for _ in 0..<blocks {
            Self.combine(block, into: &lanes)
            block += Self.blockSize
        }
        let rest = UnsafeRawBufferPointer(start: block, count: bytes.count - blocks * Self.blockSize)
        if !rest.isEmpty {
            // A last block is filled up with zeros; the length tells it from one that ends in zeros itself.
            withUnsafeTemporaryAllocation(byteCount: Self.blockSize, alignment: 8) { padded in
                _ = padded.initializeMemory(as: UInt8.self, repeating: 0)
                padded.copyMemory(from: rest)
                if let start = padded.baseAddress { Self.combine(start, into: &lanes) }
            }
        }
        self.lanes = lanes
    }

    @inline(__always)
    private static func combine(_ block: UnsafeRawPointer, into lanes: inout Lanes) {
        let k = keys
        lanes.0 = fold(word(block, 0) ^ k.0, word(block, 8) ^ lanes.0)
        lanes.1 = fold(word(block, 16) ^ k.1, word(block, 24) ^ lanes.1)
        lanes.2 = fold(word(block, 32) ^ k.2, word(block, 40) ^ lanes.2)
        lanes.3 = fold(word(block, 48) ^ k.3, word(block, 56) ^ lanes.3)
        lanes.4 = fold(word(block, 64) ^ k.4, word(block, 72) ^ lanes.4)
        lanes.5 = fold(word(block, 80) ^ k.5, word(block, 88) ^ lanes.5)
        lanes.6 = fold(word(block, 96) ^ k.6, word(block, 104) ^ lanes.6)
        lanes.7 = fold(word(block, 112) ^ k.7, word(block, 120) ^ lanes.7)
    }

    var value: UInt64 {
        let k = Self.keys
        let one = Self.fold(Self.fold(lanes.0 ^ k.1, lanes.1 ^ length), Self.fold(lanes.2 ^ k.3, lanes.3 ^ k.0))
        let other = Self.fold(Self.fold(lanes.4 ^ k.5, lanes.5 ^ k.2), Self.fold(lanes.6 ^ k.7, lanes.7 ^ k.4))
        return Self.fold(one ^ k.6, other ^ length ^ k.2)
    }

    @inline(__always)
    private static func word(_ block: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: block.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Both halves of the product, so that every bit of either factor reaches all of the result.
    @inline(__always)
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}
