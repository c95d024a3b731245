import Foundation

/// Decodes a chunked body (RFC 9112 §7.1). Pure.
struct ChunkDecoder {
    private enum State {
        case size
        case content(Int)
        case contentEnd
        case trailers
        case complete
    }

    private static let longestLine = 8 << 10
    /// Stops decoding after more bytes than this.
    let largestBody: Int
    private var state = State.size

    init(largestBody: Int) {
        self.largestBody = largestBody
    }

    var isComplete: Bool {
        if case .complete = state { return true }
        return false
    }

    /// Decodes the available bytes. Returns how many bytes it used, and whether they were malformed.
    mutating func take(_ bytes: ArraySlice<UInt8>, into body: inout Data) -> (taken: Int, failed: Bool) {
        var rest = bytes
        while !isComplete {
            let before = rest.count
            guard step(&rest, into: &body) else { return (bytes.count - rest.count, true) }
            if rest.count == before { break }
        }
        return (bytes.count - rest.count, false)
    }

    private mutating func step(_ rest: inout ArraySlice<UInt8>, into body: inout Data) -> Bool {
        if case .content(let remaining) = state {
            let taken = rest.prefix(remaining)
            body.append(contentsOf: taken)
            rest = rest.dropFirst(taken.count)
            state = taken.count == remaining ? .contentEnd : .content(remaining - taken.count)
            if body.count > largestBody { rest = rest.suffix(0) }
            return true
        }
        guard let feed = rest.firstIndex(of: .lineFeed) else { return rest.count <= Self.longestLine }
        let line = String(decoding: rest[..<feed], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        rest = rest[(feed + 1)...]
        return read(line)
    }

    private mutating func read(_ line: String) -> Bool {
        switch state {
        case .size:
            let digits = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            guard let size = Int(digits, radix: 16), size >= 0 else { return false }
            state = size == 0 ? .trailers : .content(size)
        case .contentEnd:
            guard line.isEmpty else { return false }
            state = .size
        case .trailers:
            if line.isEmpty { state = .complete }
        case .content, .complete:
            break
        }
        return true
    }
}
