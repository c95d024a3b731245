import Foundation

extension UInt64 {
    /// 16 digits, so that the texts sort in the same order as the numbers.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: 16) { bytes in
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: self >> (4 * UInt64(15 - place))) & 15
                bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 16
        }
    }
}

extension Data {
    /// Appends eight bytes, the lowest one first.
    package mutating func append(littleEndian number: UInt64) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}

extension UnsafeRawBufferPointer {
    /// The number that ``Foundation/Data/append(littleEndian:)`` has appended; nil if the bytes end before it does.
    package func number(at offset: Int) -> UInt64? {
        guard offset + 8 <= count else { return nil }
        return UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
