import TestSupport

/// Corrupts bytes: the same way for the same seed.
struct ByteMutator {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    /// A copy with one to three changes: bits, bytes, and parts that are missing or doubled.
    mutating func corrupted(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            let part = place..<min(bytes.count, place + Int.random(in: 1...16, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 2: bytes.removeSubrange(part)
            case 3: bytes.insert(contentsOf: bytes[part], at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }
}
