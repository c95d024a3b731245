import Foundation
import TestSupport

/// Corrupts bytes, the same way for the same seed.
struct Mutator {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func number(below bound: Int) -> Int { Int.random(in: 0..<max(bound, 1), using: &random) }

    /// One to four changes: bits, bytes, numbers, parts that are missing, doubled, or from elsewhere.
    mutating func corrupted(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...number(below: 4) where !bytes.isEmpty { change(&bytes) }
        return bytes
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = number(below: bytes.count)
        let length = min(number(below: 16), bytes.count - place)
        switch number(below: 8) {
        case 0: bytes[place] ^= 1 << UInt8(number(below: 8))
        case 1: bytes[place] = UInt8(number(below: 256))
        case 2: bytes[place] = [0, 1, 0x7F, 0x80, 0xFE, 0xFF][number(below: 6)]
        case 3: for index in place..<place + length { bytes[index] = [0, 0xFF][number(below: 2)] }
        case 4: bytes.removeSubrange(place..<place + length)
        case 5: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
        case 6: bytes.removeSubrange(place...)
        default:
            let source = number(below: bytes.count - length)
            bytes.replaceSubrange(place..<place + length, with: Array(bytes[source..<source + length]))
        }
    }
}
