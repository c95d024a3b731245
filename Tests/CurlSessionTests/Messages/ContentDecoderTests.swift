import Foundation
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct ContentDecoderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var codings: [String]
        var body: [UInt8]
        var expected: String

        init(_ name: String, _ codings: String..., body: [UInt8], expected: String = Encoder.text) {
            self.testDescription = name
            self.codings = codings
            self.body = body
            self.expected = expected
        }
    }

    private static let text = Array(Encoder.text.utf8)
    private static let gzip = Encoder.gzip(text)
    /// What zstd skips: a frame of four bytes.
    private static let skippable: [UInt8] = [0x5A, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]

    static let cases = [
        Case("gzip", "gzip", body: gzip),
        Case("x-gzip in capitals", "X-GZip", body: gzip),
        Case("gzip in two members", "gzip", body: gzip + gzip, expected: Encoder.text + Encoder.text),
        Case("gzip and an empty member", "gzip", body: Encoder.gzip([]) + gzip + Encoder.gzip([])),
        Case("gzip, then garbage", "gzip", body: gzip + [0, 0, 0, 7, 0x1F, 0x8B]),
        Case("gzip, then half a signature", "gzip", body: gzip + [0x1F]),
        Case("gzip of nothing", "gzip", body: Encoder.gzip([]), expected: ""),
        Case("deflate with zlib's wrapper", "deflate", body: Encoder.deflate(text, windowBits: 15)),
        Case("raw deflate", "deflate", body: Encoder.deflate(text, windowBits: -15)),
        Case("raw deflate of nothing", "deflate", body: Encoder.deflate([], windowBits: -15), expected: ""),
        Case("deflate, then garbage", "deflate", body: Encoder.deflate(text, windowBits: 15) + [1, 2, 3]),
        Case("br", "br", body: Encoder.brotli),
        Case("br, then garbage", "br", body: Encoder.brotli + [1, 2, 3]),
        Case("br of nothing", "br", body: Encoder.emptyBrotli, expected: ""),
        Case("zstd", "zstd", body: Encoder.zstd(text)),
        Case("zstd with a window of 8 MB", "zstd", body: Encoder.zstd(text, windowLog: 23)),
        Case(
            "zstd in several frames", "zstd", body: skippable + Encoder.zstd(text) + skippable + Encoder.zstd(text),
            expected: Encoder.text + Encoder.text),
        Case("zstd, then garbage", "zstd", body: Encoder.zstd(text) + [1, 2, 3, 4, 5]),
        Case("two codings in one line", "deflate, gzip", body: Encoder.gzip(Encoder.deflate(text, windowBits: 15))),
        Case("two codings in lines", "zstd", "gzip", body: Encoder.gzip(Encoder.zstd(text))),
        Case("identity among codings", "identity, gzip,, identity", body: gzip),
        Case("no body with gzip", "gzip", body: [], expected: ""),
        Case("no body with two codings", "br, zstd", body: [], expected: ""),
        Case("nothing inside of nothing", "br, gzip", body: Encoder.gzip([]), expected: ""),
    ]

    @Test(arguments: cases) func `bodies are decoded whole, in any pieces`(_ item: Case) throws {
        for (piece, room) in [(item.body.count, 1 << 16), (1, 1 << 16), (7, 3), (1000, 1)] {
            let decoded = try decode(item.codings, item.body, piece: max(1, piece), room: room)
            #expect(decoded == Array(item.expected.utf8))
        }
    }

    @Test(arguments: cases.filter { !$0.testDescription.contains("garbage") && !$0.body.isEmpty })
    func `a body without its end fails`(_ item: Case) throws {
        let whole = try decode(item.codings, item.body)
        for count in 1..<item.body.count where !endsAt(count, of: item) {
            #expect(throws: ContentDecodingError.truncated, "\(count) of \(item.body.count)") {
                try decode(item.codings, Array(item.body[..<count]))
            }
        }
        #expect(whole == Array(item.expected.utf8))
    }

    /// Whether a stream ends before or just behind this place, or what follows it does not tell a stream.
    private func endsAt(_ count: Int, of item: Case) -> Bool {
        let ends: [(String, [Int], Int)] = [
            ("gzip in two members", [Self.gzip.count], 1), ("gzip and an empty member", [20, 20 + Self.gzip.count], 1),
            ("gzip, then half a signature", [Self.gzip.count], 1),
            (
                "zstd in several frames",
                [
                    Self.skippable.count, Self.skippable.count + Encoder.zstd(Self.text).count,
                    2 * Self.skippable.count + Encoder.zstd(Self.text).count,
                ], 3
            ),
        ]
        return ends.contains { name, places, slack in
            name == item.testDescription && places.contains { ($0...$0 + slack).contains(count) }
        }
    }

    @Test func `optional fields of a gzip header are skipped and verified`() throws {
        // FTEXT, FHCRC, FEXTRA, FNAME and FCOMMENT.
        let start: [UInt8] = [0x1F, 0x8B, 8, 0x1F, 0, 0, 0, 0, 0, 3, 2, 0, 1, 2]
        let header = start + Array("name\0comment\0".utf8)
        let sum = crc(header)
        let body = header + [UInt8(sum & 0xFF), UInt8(sum >> 8 & 0xFF)] + Self.gzip[10...]
        #expect(try decode(["gzip"], body) == Self.text)
        var corrupt = body
        corrupt[header.count] ^= 1
        #expect(throws: ContentDecodingError.corrupt) { try decode(["gzip"], corrupt) }
    }

    @Test func `corrupt bodies fail`() {
        var checksum = Self.gzip
        checksum[checksum.count - 6] ^= 1
        let bodies: [(String, [UInt8])] = [
            ("gzip", checksum), ("gzip", Self.text), ("gzip", Self.gzip + [0x1F, 0x8B, 9, 0, 0, 0, 0, 0, 0, 0]),
            ("deflate", Self.text), ("br", [UInt8](repeating: 0xFF, count: 40)), ("zstd", Self.text),
            ("zstd", Encoder.zstd(Self.text, windowLog: 24)),
            ("gzip, br", Self.gzip),
        ]
        for (coding, body) in bodies {
            #expect(throws: ContentDecodingError.corrupt, "\(coding)") { try decode([coding], body) }
        }
    }

    @Test func `unknown codings and none at all pass through`() {
        let codings = [
            [], [""], ["identity"], ["gzip, foo"], ["compress"], ["gzip gzip?"], ["gzip, gzip, gzip"],
            ["br", "zstd", "gzip"],
        ]
        for names in codings { #expect((ContentDecoder(codings: names) == nil) == (names != ["gzip gzip?"])) }
    }

    @Test func `a bomb is decoded only as far as it is pulled`() throws {
        let zeros = [UInt8](repeating: 0, count: 16 << 20)
        let bombs = [
            ("gzip", Encoder.gzip(zeros)), ("gzip, gzip", Encoder.gzip(Encoder.gzip(zeros))),
            ("br", Encoder.brotliBomb),
            ("zstd", Encoder.zstd(zeros)),
        ]
        for (coding, bomb) in bombs {
            let decoder = try #require(ContentDecoder(codings: [coding]))
            bomb.withUnsafeBytes { decoder.push($0) }
            var room = [UInt8](repeating: 1, count: 64 << 10)
            for _ in 0..<10 {
                let count = try room.withUnsafeMutableBytes { try decoder.pull(into: $0) }
                #expect(count > 0 && room[..<count].allSatisfy { $0 == 0 })
            }
            #expect(throws: ContentDecodingError.truncated) { try decoder.finish() }
        }
    }

    /// zstd that inflates to `start` and then to that many times 128 KB of zeros, in four bytes each.
    private static func zeros(after start: [UInt8], blocks: Int) -> [UInt8] {
        let size = start.count << 3
        let head: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0x38]
        let stored: [UInt8] = [UInt8(size & 0xFF), UInt8(size >> 8 & 0xFF), UInt8(size >> 16)] + start
        return head + stored + (0..<blocks).flatMap { _ in [2, 0, 0x10, 0] as [UInt8] } + [1, 0, 0]
    }

    @Test func `what the inner coding ignores is bounded, in each call`() throws {
        let decoder = try #require(ContentDecoder(codings: ["gzip, zstd"]))
        // 32 GB of zeros after the end of a gzip stream, in a megabyte.
        let bomb = Self.zeros(after: Self.gzip, blocks: 1 << 18)
        bomb.withUnsafeBytes { decoder.push($0) }
        var room = [UInt8](repeating: 1, count: 64 << 10)
        let count = try room.withUnsafeMutableBytes { try decoder.pull(into: $0) }
        #expect(Array(room[..<count]) == Self.text)
        #expect(throws: ContentDecodingError.excessive) {
            try room.withUnsafeMutableBytes { try decoder.pull(into: $0) }
        }
    }

    @Test func `decoded bytes do not allow for more ignored ones later`() throws {
        // 16 MB are decoded, which would allow for a gigabyte.
        let inner = Encoder.zstd([UInt8](repeating: 0, count: 16 << 20))
        let body = Self.zeros(after: inner, blocks: 1 << 10)
        #expect(throws: ContentDecodingError.excessive) { try decode(["zstd, zstd"], body, piece: body.count) }
    }

    @Test func `zeros after the inner coding are ignored as long as they are few`() throws {
        let body = Self.zeros(after: Self.gzip, blocks: 7)
        #expect(try decode(["gzip, zstd"], body) == Self.text)
    }

    @Test func `asking without new input changes nothing`() throws {
        for item in Self.cases where !item.body.isEmpty {
            let decoder = try #require(ContentDecoder(codings: item.codings))
            var output: [UInt8] = []
            for byte in item.body {
                withUnsafeBytes(of: byte) { decoder.push($0) }
                for _ in 0..<40 { try drain(decoder, room: 100, into: &output) }
            }
            try decoder.finish()
            #expect(output == Array(item.expected.utf8))
        }
    }

    @Test func `mutations of bodies never trap`() {
        var mutator = ByteMutator(seed: 15)
        for item in Self.cases {
            for _ in 0..<200 { _ = try? decode(item.codings, mutator.corrupted(item.body)) }
        }
    }

    private func decode(_ codings: [String], _ body: [UInt8], piece: Int = 1 << 14, room: Int = 1 << 16) throws
        -> [UInt8]
    {
        let decoder = try #require(ContentDecoder(codings: codings))
        var output: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            rest.prefix(piece).withUnsafeBytes { decoder.push($0) }
            rest = rest.dropFirst(piece)
            try drain(decoder, room: room, into: &output)
        }
        try decoder.finish()
        return output
    }

    private func drain(_ decoder: ContentDecoder, room: Int, into output: inout [UInt8]) throws {
        var space = [UInt8](repeating: 0, count: room)
        while true {
            let count = try space.withUnsafeMutableBytes { try decoder.pull(into: $0) }
            guard count > 0 else { return }
            output += space[..<count]
        }
    }

    /// CRC-32 as gzip computes it.
    private func crc(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xEDB8_8320 }
            }
        }
        return ~sum
    }
}
