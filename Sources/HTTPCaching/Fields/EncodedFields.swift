/// Field lines as bytes: for each line the length of its name, the name, the length of its value, and the value. A length is
/// a little-endian number of four bytes.
package struct EncodedFields: Sendable {
    package let bytes: ArraySlice<UInt8>

    package init(_ fields: HTTPFields) {
        var bytes: [UInt8] = []
        for line in fields.lines {
            for text in [line.name, line.value] {
                withUnsafeBytes(of: UInt32(clamping: text.utf8.count).littleEndian) { bytes += $0 }
                bytes += text.utf8.prefix(Int(clamping: UInt32.max))
            }
        }
        self.bytes = bytes[...]
    }

    /// - Returns: nil if the bytes encode no fields.
    package init?(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        guard forEach({ _, _ in }) else { return nil }
    }

    var isEmpty: Bool { bytes.isEmpty }

    var lines: [HTTPFields.Line] {
        var lines: [HTTPFields.Line] = []
        lines.reserveCapacity(16)
        forEach { name, value in
            lines.append(
                HTTPFields.Line(
                    name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self)))
        }
        return lines
    }

    /// Passes each line to `body`; returns false if the bytes are malformed after the last of these lines.
    @discardableResult
    func forEach(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Void) -> Bool {
        bytes.withUnsafeBufferPointer { rest in
            var rest = rest
            while !rest.isEmpty {
                guard let name = Self.takeText(&rest), let value = Self.takeText(&rest) else { return false }
                body(name, value)
            }
            return true
        }
    }

    private static func takeText(_ rest: inout UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard rest.count >= 4 else { return nil }
        let word = UInt32(littleEndian: UnsafeRawBufferPointer(rest).loadUnaligned(as: UInt32.self))
        guard let length = Int(exactly: word), length <= rest.count - 4 else { return nil }
        defer { rest = UnsafeBufferPointer(rebasing: rest[(4 + length)...]) }
        return UnsafeBufferPointer(rebasing: rest[4..<4 + length])
    }
}
