import SynchronizerSupport

/// GIF's compression (GIF89a appendix F): codes of 3 to 12 bits, beginning with the lowest bit of each byte.
///
/// Every string of the table already stands in the output: it is the string of the previous code and the byte after it. So the
/// table holds only positions and lengths, and decoding copies.
struct LZW {
    private static let maximumCodes = 4096
    private static let bytesBetweenChecks = 1 << 16
    /// Clear codes write nothing, so they are counted on their own.
    private static let clearsBetweenChecks = 1 << 12

    private let output: UnsafeMutableBufferPointer<UInt8>
    private var starts = [Int32](repeating: 0, count: maximumCodes)
    private var lengths = [Int32](repeating: 0, count: maximumCodes)

    /// Decodes into `output` and stops when it is full. Returns the number of bytes written; nil if a code is invalid or
    /// the data end before the end code.
    /// - Parameter minimumSize: The bits of a literal. The standard allows 2 to 8; 1 to 11 work, because codes have at most
    ///   12 bits.
    static func decode(
        _ blocks: inout GIFSubBlocks, minimumSize: Int, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws -> Int? {
        guard (1...11).contains(minimumSize) else { return nil }
        var decoder = LZW(output: output)
        return try decoder.run(&blocks, minimumSize: minimumSize)
    }

    private init(output: UnsafeMutableBufferPointer<UInt8>) {
        self.output = output
    }

    private mutating func run(_ blocks: inout GIFSubBlocks, minimumSize: Int) throws -> Int? {
        let clear = 1 << minimumSize
        var bits = BitBuffer()
        var (size, next) = (minimumSize + 1, clear + 2)
        var previous: (start: Int, length: Int)?
        var written = 0
        var nextCheck = 0
        var clears = 0
        while written < output.count {
            if written >= nextCheck {
                try ParseCancellation.check()
                nextCheck = written + Self.bytesBetweenChecks
            }
            guard let code = bits.read(size, from: &blocks) else { return nil }
            if code == clear {
                clears += 1
                if clears % Self.clearsBetweenChecks == 0 { try ParseCancellation.check() }
                (size, next, previous) = (minimumSize + 1, clear + 2, nil)
                continue
            }
            if code == clear + 1 { return written }
            let start = written
            if let previous, next < Self.maximumCodes {
                // The previous string and the next byte, which the copy below writes.
                starts[next] = Int32(truncatingIfNeeded: previous.start)
                lengths[next] = Int32(truncatingIfNeeded: previous.length + 1)
                next += 1
                if next == 1 << size, size < 12 { size += 1 }
            }
            guard let end = write(code, clear: clear, next: next, at: written) else { return nil }
            written = end
            previous = (start, end - start)
        }
        return written
    }

    /// Writes a literal or a string of the table; nil if the code does not exist yet.
    private func write(_ code: Int, clear: Int, next: Int, at position: Int) -> Int? {
        guard let output = output.baseAddress else { return nil }
        if code < clear {
            output[position] = UInt8(truncatingIfNeeded: code)
            return position + 1
        }
        guard code > clear + 1, code < next else { return nil }
        let source = output + Int(starts[code])
        let length = min(Int(lengths[code]), self.output.count - position)
        // Byte by byte, because the newest string ends with the first byte of this copy.
        for index in 0..<length { output[position + index] = source[index] }
        return position + length
    }
}

/// Bits read from sub-blocks and not used yet.
private struct BitBuffer {
    private var bits: UInt64 = 0
    private var count = 0

    mutating func read(_ size: Int, from blocks: inout GIFSubBlocks) -> Int? {
        while count < size {
            guard let byte = blocks.next() else { return nil }
            bits |= UInt64(byte) << UInt64(count)
            count += 8
        }
        let value = Int(bits & (1 << UInt64(size) - 1))
        bits >>= UInt64(size)
        count -= size
        return value
    }
}
