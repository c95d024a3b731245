/// A 64-bit checksum that detects corruption: one folded 64 × 64-bit multiplication for every 16 bytes, eight at a time.
///
/// It belongs to the wyhash family: it is many times faster than CRC-32 or SHA-256 in Swift, about as fast as memory is
/// read, and misses a flipped bit once in 2⁶⁴ times. It is not cryptographic, and need not be: an attacker who can write to
/// the cache directory can change the checksums too. Files contain checksums, so the same bytes must have the same checksum
/// on every machine and in every version of one schema.
package struct Checksum64: Sendable {
    private typealias Lanes = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    // Odd numbers with about as many ones as zeros and no pattern: the bits of the golden ratio, and multiples of it.
    private static let keys: Lanes = (
        0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03, 0x8CB9_2BA7_2F3D_8DD7, 0xA3AA_AC63_BD66_CE1B,
        0xDAA6_6D2C_7DDF_743F, 0xE703_7ED1_A0B4_28DB, 0x589A_6AE2_0ABD_E45D, 0xC6BC_2796_92B5_C323
    )
    package static let blockSize = 128

    private var lanes: Lanes
    private var length: UInt64 = 0

    package init(seed: UInt64 = 0) {
        let k = Self.keys
        lanes = (
            seed ^ k.7, seed ^ k.6, seed ^ k.5, seed ^ k.4, seed ^ k.3, seed ^ k.2, seed ^ k.1, seed ^ k.0
        )
    }

    package static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var checksum = Checksum64(seed: seed)
        checksum.combine(bytes)
        return checksum.value
    }

    package static func of(_ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    /// Adds bytes. Each call but the last must add a multiple of `blockSize`.
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
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
            // The last block is padded with zeros. The length distinguishes it from a block that ends in zeros.
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
        lanes.0 = fold(word(of: block, at: 0) ^ k.0, word(of: block, at: 8) ^ lanes.0)
        lanes.1 = fold(word(of: block, at: 16) ^ k.1, word(of: block, at: 24) ^ lanes.1)
        lanes.2 = fold(word(of: block, at: 32) ^ k.2, word(of: block, at: 40) ^ lanes.2)
        lanes.3 = fold(word(of: block, at: 48) ^ k.3, word(of: block, at: 56) ^ lanes.3)
        lanes.4 = fold(word(of: block, at: 64) ^ k.4, word(of: block, at: 72) ^ lanes.4)
        lanes.5 = fold(word(of: block, at: 80) ^ k.5, word(of: block, at: 88) ^ lanes.5)
        lanes.6 = fold(word(of: block, at: 96) ^ k.6, word(of: block, at: 104) ^ lanes.6)
        lanes.7 = fold(word(of: block, at: 112) ^ k.7, word(of: block, at: 120) ^ lanes.7)
    }

    package var value: UInt64 {
        let k = Self.keys
        let one = Self.fold(Self.fold(lanes.0 ^ k.1, lanes.1 ^ length), Self.fold(lanes.2 ^ k.3, lanes.3 ^ k.0))
        let other = Self.fold(Self.fold(lanes.4 ^ k.5, lanes.5 ^ k.2), Self.fold(lanes.6 ^ k.7, lanes.7 ^ k.4))
        return Self.fold(one ^ k.6, other ^ length ^ k.2)
    }

    @inline(__always)
    private static func word(of block: UnsafeRawPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: block.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// XORs both halves of the product, so that every bit of either factor affects the result.
    @inline(__always)
    private static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }
}
