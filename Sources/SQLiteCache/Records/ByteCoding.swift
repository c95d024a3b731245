import Foundation

/// Encodes values: numbers as LEB128, strings and data after their length.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    mutating func put(_ byte: UInt8) {
        bytes.append(byte)
    }

    mutating func put(_ number: Int) {
        var rest = UInt64(bitPattern: Int64(number))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// A `Date` counts from its reference date, so this number is exact. Seconds since 1970 have one bit less.
    mutating func put(_ time: Date) {
        let bits = time.timeIntervalSinceReferenceDate.bitPattern
        withUnsafeBytes(of: bits.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func put(_ text: String) {
        put(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    /// Puts bytes without their number, which the reader knows.
    mutating func put(fixed bytes: some Collection<UInt8>) {
        self.bytes += bytes
    }

    mutating func put(_ data: Data) {
        put(data.count)
        bytes.append(contentsOf: data)
    }
}

/// The error for bytes that no `ByteWriter` has written.
struct MalformedBytes: Error {}

/// Decodes what `ByteWriter` encoded. It throws for any other bytes, and never traps.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer, at position: Int = 0) {
        self.bytes = bytes
        self.position = min(position, bytes.count)
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(MalformedBytes) -> UInt8 {
        guard position < bytes.count else { throw MalformedBytes() }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func number() throws(MalformedBytes) -> Int {
        if position < bytes.count, bytes[position] < 0x80 { return Int(try byte()) }  // most numbers
        var result: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte()
            result |= UInt64(next & 0x7F) << shift
            if next < 0x80 {
                guard let number = Int(exactly: Int64(bitPattern: result)) else { throw MalformedBytes() }
                return number
            }
        }
        throw MalformedBytes()
    }

    mutating func time() throws(MalformedBytes) -> Date {
        let raw = try span(MemoryLayout<UInt64>.size)
        let seconds = Double(bitPattern: UInt64(littleEndian: raw.loadUnaligned(as: UInt64.self)))
        guard seconds.isFinite else { throw MalformedBytes() }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    mutating func text() throws(MalformedBytes) -> String {
        String(decoding: try span(try number()), as: UTF8.self)
    }

    /// The next string. If it equals `known`, this is returned, and no new string is made.
    mutating func text(orEqual known: String?) throws(MalformedBytes) -> String {
        var other = self
        guard let known, try other.isNext(known) else { return try text() }
        self = other
        return known
    }

    /// Skips a string or data.
    mutating func skip() throws(MalformedBytes) {
        _ = try span(try number())
    }

    /// Skips a string or data; returns where its bytes are.
    mutating func range() throws(MalformedBytes) -> Range<Int> {
        let count = try number()
        _ = try span(count)
        return position - count..<position
    }

    /// Whether the next string equals `text`.
    mutating func isNext(_ text: String) throws(MalformedBytes) -> Bool {
        let span = try span(try number())
        var text = text
        return text.withUTF8 { text in
            guard text.count == span.count, let start = text.baseAddress, let other = span.baseAddress else {
                return text.count == span.count
            }
            return memcmp(start, other, text.count) == 0
        }
    }

    mutating func data() throws(MalformedBytes) -> Data {
        Data(try span(try number()))
    }

    mutating func span(_ count: Int) throws(MalformedBytes) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= bytes.count - position else { throw MalformedBytes() }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }
}
