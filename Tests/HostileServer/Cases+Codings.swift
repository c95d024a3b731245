import Foundation
import ScriptedServer

/// Content codings: bombs, streams that are cut short or broken, and codings that are unknown.
extension HostileCase {
    private static func coded(
        _ row: String, _ variant: String, _ coding: String, _ body: Data, _ outcome: Outcome, end: [Reply.Piece] = []
    ) -> HostileCase {
        HostileCase(row, variant, outcome) { _, _ in
            .script([.head("Content-Encoding: \(coding)", "Content-Length: \(body.count)"), .bytes(body)] + end)
        }
    }

    private static let undecodable = Outcome.error(.cannotDecodeContentData)
    private static let text = Outcome.text(Compressed.text)

    static let codings: [HostileCase] = [
        bombs, otherBombs, legalCodings, oddCodings, cutStreams, cutConnections, brokenStreams, surplus, empty,
        wrongChecksums,
        transferCodings,
    ].flatMap { $0 }

    private static let bombs: [HostileCase] =
        Compressed.allCases.map { coding in
            HostileCase("A body that inflates to 10 GB", coding.rawValue, .tooLarge) { _, _ in
                .script([.head("Content-Encoding: \(coding.rawValue)")] + coding.bomb(gibibytes: 10) + [.close])
            }
        }

    private static let otherBombs: [HostileCase] = [
        HostileCase("A body that inflates to 1 GB", .tooLarge) { _, _ in
            .script([.head("Content-Encoding: gzip")] + Compressed.gzip.bomb(gibibytes: 1) + [.close])
        },
        HostileCase(
            "More than two codings, which are passed through", .response(status: 200, body: Compressed.gzip.sample)
        ) { _, _ in
            let codings = Array(repeating: "gzip", count: 100).joined(separator: ", ")
            return .script([
                .head("Content-Encoding: \(codings)", "Content-Length: 523"), .bytes(Compressed.gzip.sample),
            ])
        },
        HostileCase(
            "A body with two codings, and 10 GB after the end of the inner coded body",
            .error(.dataLengthExceedsMaximum)
        ) { _, _ in
            let body = Compressed.zstdZeros(gibibytes: 10, after: Compressed.gzip.sample)
            return .script([.head("Content-Encoding: gzip, zstd")] + body + [.close])
        },
        HostileCase(
            "A zstd frame whose window is 2 GB", .error(.cannotDecodeContentData),
            .head("Content-Encoding: zstd"), .bytes(Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0xA8, 2, 0, 0x10, 0])), .hold),
    ]

    private static let legalCodings: [HostileCase] =
        Compressed.allCases.map { coded("A complete coded body", $0.rawValue, $0.rawValue, $0.sample, text) }

    private static let oddCodings: [HostileCase] = [
        coded("A complete coded body", "x-gzip", "x-gzip", Compressed.gzip.sample, text),
        coded("A complete coded body", "GZIP", "GZIP", Compressed.gzip.sample, text),
        coded(
            "A complete coded body", "two gzip members", "gzip", Compressed.gzip.sample + Compressed.gzip.sample,
            .text(Compressed.text + Compressed.text)),
        coded(
            "A complete coded body", "two zstd frames", "zstd", Compressed.zstd.sample + Compressed.zstd.sample,
            .text(Compressed.text + Compressed.text)),
        coded(
            "A complete coded body", "deflate without zlib's head", "deflate",
            Compressed.deflate.sample.dropFirst(2).dropLast(4), text),
        coded("A complete coded body", "identity", "identity", Data("hello".utf8), .hello),
        coded("An unknown coding, which is passed through", "alone", "exotic", Data("hello".utf8), .hello),
        coded(
            "An unknown coding, which is passed through", "around gzip", "gzip, exotic", Data("hello".utf8), .hello),
    ]

    private static let cuts: [(String, part: Double)] = [
        ("in its head", 0.006), ("in the middle", 0.5), ("before its last byte", 0.999),
    ]

    private static let cutStreams: [HostileCase] = Compressed.allCases.flatMap { coding in
        cuts.map { name, part in
            let cut = coding.sample.prefix(Int(Double(coding.sample.count) * part))
            return coded(
                "A coded body that is cut short, with a `Content-Length` that equals the number of bytes sent",
                "\(coding), \(name)", coding.rawValue, cut, .error(.networkConnectionLost))
        }
    }

    private static let cutConnections: [HostileCase] = Compressed.allCases.map { coding in
        HostileCase(
            "A coded body that is cut short by the end of the connection", coding.rawValue,
            .error(.networkConnectionLost),
            .head("Content-Encoding: \(coding)"), .bytes(coding.sample.prefix(200)), .close)
    }

    private static let brokenStreams: [HostileCase] = Compressed.allCases.map {
        let plain = Data("hello, this is plain text".utf8)
        return coded("A body that does not match its coding", $0.rawValue, $0.rawValue, plain, undecodable)
    }

    private static let surplus: [HostileCase] = Compressed.allCases.map {
        let bytes = $0.sample + Data("surplus".utf8)
        return coded("Bytes after the end of a coded body", $0.rawValue, $0.rawValue, bytes, text)
    }

    private static let emptyMember = Data([31, 139, 8, 0, 0, 0, 0, 0, 0, 255, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0])

    private static let empty: [HostileCase] = [
        HostileCase(
            "An endless coded body that decodes to nothing", "surplus bytes after its end",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: gzip"),
            .bytes(Compressed.gzip.sample + Data("surplus".utf8)), .again([.block], times: nil)),
        HostileCase(
            "An endless coded body that decodes to nothing", "empty gzip members",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: gzip"),
            .again([.bytes((0..<1_000).reduce(into: Data()) { data, _ in data += emptyMember })], times: nil)),
    ]

    private static let transferCodings: [HostileCase] = [
        HostileCase(
            "An unknown transfer coding, which is passed through", "exotic", .hello,
            .head("Transfer-Encoding: exotic"), .text("hello"), .close),
        HostileCase(
            "An unknown transfer coding, which is passed through", "in chunks", .hello,
            .head("Transfer-Encoding: exotic, chunked"), .text("5\r\nhello\r\n0\r\n\r\n")),
        HostileCase(
            "A transfer coding that is decoded", "gzip", text, .head("Transfer-Encoding: gzip"),
            .bytes(Compressed.gzip.sample), .close),
    ]

    private static let wrongChecksums: [HostileCase] = [(Compressed.gzip, 6), (.deflate, 2), (.zstd, 2)].map {
        coding, fromEnd in
        var bytes = coding.sample
        bytes[bytes.count - fromEnd] ^= 1
        return coded("A wrong checksum", coding.rawValue, coding.rawValue, bytes, undecodable)
    }
}
