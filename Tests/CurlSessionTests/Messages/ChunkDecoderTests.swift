import Testing
import TestTraits

@testable import CurlSession

/// RFC 9112 §7.1.
@Suite(.bounded) struct ChunkDecoderTests {
    /// The content and the trailer lines of bytes that arrive a few at a time.
    private func decode(_ text: String, piece: Int) throws -> (content: String, trailers: [String], hasEnded: Bool) {
        var (decoder, content, trailers) = (ChunkDecoder(), [UInt8](), [String]())
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { arrived in
                var rest = arrived[...]
                while let part = try decoder.next(&rest) {
                    switch part {
                    case .content(let bytes): content += bytes
                    case .trailerLine(let line): trailers.append(String(decoding: line, as: UTF8.self))
                    }
                }
                #expect(rest.isEmpty || decoder.hasEnded)
            }
        }
        return (String(decoding: content, as: UTF8.self), trailers, decoder.hasEnded)
    }

    static let legal: [(String, content: String, trailers: [String])] = [
        ("5\r\nhello\r\n0\r\n\r\n", "hello", ["\r\n"]),
        ("1\r\nh\r\n4\r\nello\r\n0\r\n\r\n", "hello", ["\r\n"]),
        ("0005\r\nhello\r\n000\r\n\r\n", "hello", ["\r\n"]),
        ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789", ["\r\n"]),
        ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789", ["\r\n"]),
        ("10\r\n0123456789abcdef\r\n0\r\n\r\n", "0123456789abcdef", ["\r\n"]),
        ("5;a=b;c=\"d\"\r\nhello\r\n0;x\r\n\r\n", "hello", ["\r\n"]),
        ("5 \t;a\r\nhello\r\n0 \r\n\r\n", "hello", ["\r\n"]),
        ("5\nhello\n0\n\n", "hello", ["\n"]),
        ("3\r\n\r\n0\r\n0\r\n\r\n", "\r\n0", ["\r\n"]),
        ("0\r\nA: b\r\nC: d\r\n\r\n", "", ["A: b\r\n", "C: d\r\n", "\r\n"]),
        ("0\r\n\r\nsurplus", "", ["\r\n"]),
    ]

    @Test(arguments: legal, [1, 2, 3, 100])
    func `legal chunks`(chunks: (String, content: String, trailers: [String]), piece: Int) throws {
        let decoded = try decode(chunks.0, piece: piece)
        #expect(decoded.content == chunks.content && decoded.trailers == chunks.trailers && decoded.hasEnded)
    }

    @Test(
        arguments: [
            "0x5\r\nhello", "0x0\r\n\r\n", "0junk\r\n\r\n", "0.5\r\n", "5h\r\nhello", "5,\r\n", "5 5\r\n", "5\0\r\n",
            "-5\r\n",
            "+5\r\n", " 5\r\n", "\r\n", "\n", "x\r\n", ";\r\n", "5\rhello", "5\r\nhello0\r\n", "5\r\nhello\r0",
            "5\r\nhello\n\n",
            "8000000000000000\r\n", "ffffffffffffffff\r\n", "00000000000000005\r\n",
        ], [1, 100])
    func `malformed chunks`(chunks: String, piece: Int) {
        #expect(throws: ChunkDecoder.Malformed.self) { try decode(chunks, piece: piece) }
    }

    @Test(arguments: [
        "", "5", "5\r\n", "5\r\nhell", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0", "0\r\n", "0\r\nA: b\r\n",
    ])
    func `chunks that have not ended`(chunks: String) throws {
        #expect(try !decode(chunks, piece: 100).hasEnded)
    }

    @Test func `the framing is bounded`() throws {
        let extensions = String(repeating: "x", count: 60 << 10)
        #expect(try decode("5;\(extensions)\r\nhello\r\n0;\(extensions)\r\n\r\n", piece: 4_096).content == "hello")
        let long = String(repeating: "x", count: ChunkDecoder.maximumExcess)
        #expect(throws: ChunkDecoder.Malformed.self) { try decode("5;\(long)", piece: 4_096) }
        #expect(throws: ChunkDecoder.Malformed.self) { try decode("0\r\n\(long)x", piece: 4_096) }
        let many = String(repeating: "1;\(extensions)\r\nx\r\n", count: 8)
        #expect(throws: ChunkDecoder.Malformed.self) { try decode(many, piece: 4_096) }
        let small = String(repeating: "1\r\nx\r\n", count: 100_000)
        #expect(try decode(small, piece: 4_096).content.utf8.count == 100_000)
    }
}
