import Foundation
import TestSupport

/// A body that can be verified without the original: bytes that a number determines, and their checksum.
public struct ChaosBody: Sendable {
    /// All of its bytes.
    public let bytes: Data

    /// The body of a number: mostly up to 20 KB, sometimes 300 KB.
    public init(_ number: Int) {
        var random = SeededGenerator(seed: UInt64(number))
        let count = random.roll(16) == 0 ? 300_000 : 1 + random.roll(20_000)
        var bytes = Data(capacity: count + 12)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        self.bytes = bytes + Self.checksum(bytes)
    }

    /// Whether the checksum at the end of a body is that of the bytes before it.
    public static func isWhole(_ bytes: Data) -> Bool {
        bytes.count > 4 && checksum(bytes.dropLast(4)) == bytes.suffix(4)
    }

    /// The body in gzip's format, without being compressed (RFC 1952, RFC 1951 §3.2.4).
    var gzipped: Data {
        var result = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            let size = UInt16(block.count)
            result.append(contentsOf: [rest.isEmpty ? 1 : 0, UInt8(size & 0xFF), UInt8(size >> 8)])
            result.append(contentsOf: [UInt8(~size & 0xFF), UInt8(~size >> 8)] + block)
        } while !rest.isEmpty
        return result + Self.checksum(bytes) + Self.littleEndian(UInt32(bytes.count))
    }

    /// CRC-32, as in gzip.
    private static func checksum(_ bytes: Data) -> Data {
        var sum: UInt32 = .max
        for byte in bytes { sum = sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] }
        return littleEndian(~sum)
    }

    private static let table = (0..<256).map { (index: UInt32) in
        (0..<8).reduce(index) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    private static func littleEndian(_ value: UInt32) -> Data { withUnsafeBytes(of: value.littleEndian) { Data($0) } }
}

extension SeededGenerator {
    /// A number from 0 to `sides` − 1.
    package mutating func roll(_ sides: Int) -> Int { Int(next() % UInt64(sides)) }
}
