import Foundation

/// The hash functions of Digest. With either of them, an attacker who sees the traffic can guess passwords offline.
enum Hashing {
    /// RFC 1321, in hexadecimal digits.
    static func md5(_ message: [UInt8]) -> String {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476]
        for block in blocks(message, isBigEndian: false) {
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            for step in 0..<64 {
                let (mix, index) =
                    switch step >> 4 {
                    case 0: (b & c | ~b & d, step)
                    case 1: (d & b | ~d & c, 5 * step + 1)
                    case 2: (b ^ c ^ d, 3 * step + 5)
                    default: (c ^ (b | ~d), 7 * step)
                    }
                let sum = a &+ mix &+ md5Constants[step] &+ block[index & 15]
                (a, b, c, d) = (d, b &+ rotated(sum, left: md5Rotations[step >> 4 * 4 + step & 3]), b, c)
            }
            for (index, value) in [a, b, c, d].enumerated() { state[index] &+= value }
        }
        return hexadecimal(state.flatMap { bytes($0.byteSwapped) })
    }

    /// FIPS 180-4, in hexadecimal digits.
    static func sha256(_ message: [UInt8]) -> String {
        var state = roots(of: 2, count: 8)
        for block in blocks(message, isBigEndian: true) {
            var words = block
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = rotated(early, left: 25) ^ rotated(early, left: 14) ^ early >> 3
                let second = rotated(late, left: 15) ^ rotated(late, left: 13) ^ late >> 10
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var s = state
            for step in 0..<64 {
                let choice = s[4] & s[5] ^ ~s[4] & s[6]
                let one = rotated(s[4], left: 26) ^ rotated(s[4], left: 21) ^ rotated(s[4], left: 7)
                let first = s[7] &+ one &+ choice &+ sha256Constants[step] &+ words[step]
                let zero = rotated(s[0], left: 30) ^ rotated(s[0], left: 19) ^ rotated(s[0], left: 10)
                let second = zero &+ (s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2])
                s = [first &+ second, s[0], s[1], s[2], s[3] &+ first, s[4], s[5], s[6]]
            }
            for index in 0..<8 { state[index] &+= s[index] }
        }
        return hexadecimal(state.flatMap(bytes))
    }

    /// The message with its padding and its length, in blocks of 16 words.
    private static func blocks(_ message: [UInt8], isBigEndian: Bool) -> [[UInt32]] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let length = UInt64(message.count) * 8
        padded += (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(8 * (isBigEndian ? 7 - $0 : $0))) }
        return stride(from: 0, to: padded.count, by: 64).map { start in
            (0..<16).map { word in
                let value = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(padded[start + word * 4 + $1]) }
                return isBigEndian ? value : value.byteSwapped
            }
        }
    }

    private static let md5Rotations: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    private static let md5Constants = (1...64).map { UInt32(abs(sin(Double($0))) * 4_294_967_296) }
    private static let sha256Constants = roots(of: 3, count: 64)

    /// The first 32 bits of the fractional parts of the square or cube roots of the first primes.
    private static func roots(of degree: Int, count: Int) -> [UInt32] {
        let primes = (2...).lazy.filter { number in !(2..<number).contains { number % $0 == 0 } }
        return primes.prefix(count).map { UInt32(truncatingIfNeeded: root(of: $0, degree: degree)) }
    }

    /// The root of a number, times 2^32, rounded down. It is found by bisection, because a `Double` has too few digits.
    private static func root(of number: Int, degree: Int) -> UInt64 {
        var (low, high) = (UInt64(0), UInt64(32) << 32)
        while high - low > 1 {
            let middle = (low + high) / 2
            let power = (1..<degree).reduce(UInt128(middle)) { power, _ in power * UInt128(middle) }
            if power <= UInt128(number) << UInt128(32 * degree) { low = middle } else { high = middle }
        }
        return low
    }

    private static func rotated(_ word: UInt32, left count: UInt32) -> UInt32 { word << count | word >> (32 - count) }

    private static func bytes(_ word: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
