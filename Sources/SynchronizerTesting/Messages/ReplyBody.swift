import Foundation

/// The body of a reply as it is sent, including its framing and the faults of the framing.
struct ReplyBody {
    /// Bytes that belong together, and which of them are content.
    struct Piece {
        let bytes: Data
        let content: Range<Int>
    }

    /// The content, in order.
    private(set) var pieces: [Piece] = []
    /// The bytes after the last piece.
    private(set) var end = Data()
    /// The piece that an endless body repeats after its content.
    private(set) var endless: Piece?

    init(_ reply: Reply, to request: RecordedRequest) {
        guard !ReplyHead.isBodiless(reply, to: request) else { return }
        if case .chunked(let sizes) = ReplyHead.framing(of: reply) {
            addChunks(of: reply, sizes: sizes)
            if reply.fault == .endlessBody { endless = Self.chunk(Self.repeated(reply.body), ending: true) }
        } else {
            if !reply.body.isEmpty { pieces = [Piece(bytes: reply.body, content: 0..<reply.body.count)] }
            if reply.fault == .endlessBody {
                let bytes = Self.repeated(reply.body)
                endless = Piece(bytes: bytes, content: 0..<bytes.count)
            }
        }
    }

    private mutating func addChunks(of reply: Reply, sizes: [Int]) {
        var rest = reply.body[...]
        let bad: Int? = if case .badChunkSize(let count) = reply.fault { count } else { nil }
        if let bad { rest = rest.prefix(max(0, bad)) }
        var upcoming = sizes[...]
        while !rest.isEmpty {
            let size = upcoming.count > 1 ? upcoming.removeFirst() : upcoming.first ?? rest.count
            let content = rest.prefix(max(1, size))
            pieces.append(Self.chunk(content, ending: reply.fault != .missingChunkEnd))
            rest = rest.dropFirst(content.count)
        }
        if bad != nil {
            end = Data("no size\r\n".utf8)
        } else if reply.fault != .missingLastChunk {
            end = Data("0\r\n\r\n".utf8)
        }
    }

    private static func chunk(_ content: Data, ending: Bool) -> Piece {
        let size = Data((String(content.count, radix: 16) + "\r\n").utf8)
        let bytes = size + content + (ending ? Data("\r\n".utf8) : Data())
        return Piece(bytes: bytes, content: size.count..<size.count + content.count)
    }

    /// The body, repeated until it has at least 16 KB.
    private static func repeated(_ body: Data) -> Data {
        let body = body.isEmpty ? Data([UInt8(ascii: "x")]) : body
        var bytes = body
        while bytes.count < 16 << 10 { bytes += body }
        return bytes
    }
}
