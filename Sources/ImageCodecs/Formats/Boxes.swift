/// Iterates over the boxes of an ISO base media file (ISO/IEC 14496-12 §4.2), at most `HeaderLimit.parts`.
struct Boxes: Sequence, IteratorProtocol {
    struct Box {
        let header: ByteReader
        let content: ByteReader

        func has(_ name: StaticString) -> Bool { header.has(name, at: 4) }
    }

    private let bytes: ByteReader
    private var offset: Int
    private var left = HeaderLimit.parts

    /// Whether nothing follows the last box that was read.
    var isAtEnd: Bool { offset >= bytes.count }

    init(_ bytes: ByteReader, from offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    mutating func next() -> Box? {
        guard left > 0, var length = bytes.big32(offset), let header = bytes.part(from: offset, count: 8),
            header.count == 8
        else { return nil }
        var start = 8
        if length == 1 {
            guard let long = bytes.big64(offset + 8) else { return nil }
            (length, start) = (long, 16)
        } else if length == 0 {
            length = bytes.count - offset
        }
        guard length >= start, let content = bytes.part(from: offset + start, count: length - start) else { return nil }
        let (next, overflow) = offset.addingReportingOverflow(length)
        offset = overflow ? .max : next
        left -= 1
        return Box(header: header, content: content)
    }
}
