import Foundation
import ScriptedServer

/// Further variants of the cases: what lies between the legal and the malformed.
extension HostileCase {
    static let variants: [HostileCase] = [
        statusVariants, lineVariants, slowHeads, lengthVariants, transferCodingVariants, chunkVariants, trailerVariants,
        codingVariants, codingAttacks, unusualStatuses, redirectVariants, fieldVariants,
    ].flatMap { $0 }

    private static func line(
        _ row: String, _ variant: String, _ line: [UInt8], _ outcome: Outcome = .hello
    ) -> HostileCase {
        HostileCase(
            row, variant, outcome, .openHead, .bytes(Data(line)), .text("\r\nContent-Length: 5\r\n\r\nhello"))
    }

    // MARK: Heads

    private static let legal = "A legal but unusual head"
    private static let lost = Outcome.error(.networkConnectionLost)
    private static let bad = Outcome.error(.badServerResponse)

    private static let statusVariants: [HostileCase] = [
        HostileCase(
            "A malformed line, which is ignored", "two blanks after the version", .hello,
            .response(status: "HTTP/1.1  200 OK")),
        HostileCase("A version that is none", "http/1.1 200 OK", bad, .response(status: "http/1.1 200 OK"), .close),
        HostileCase(
            "A version that is none", "a tab after the version", bad, .response(status: "HTTP/1.1\t200 OK"), .close),
        HostileCase("A version that is none", "HTTP/3 200", bad, .response(status: "HTTP/3 200"), .close),
        HostileCase("A version that is none", "HTTP/1.1200 OK", bad, .response(status: "HTTP/1.1200 OK"), .close),
        HostileCase(
            legal, "HTTP/1.0 without a length", .hello,
            .text("HTTP/1.0 200 OK\r\nCache-Control: max-age=100\r\n\r\nhello"), .close),
        HostileCase(
            "A reason of 90 KB", .hello, .response(status: "HTTP/1.1 200 " + String(repeating: "x", count: 90 << 10))),
        HostileCase("Two status lines", bad, .response("HTTP/1.1 200 OK"), .close),
    ]

    private static let lineVariants: [HostileCase] = [
        line(legal, "a value of 90 KB", Array(("X-Y: " + String(repeating: "z", count: 90 << 10)).utf8)),
        line(legal, "a name of 90 KB", Array((String(repeating: "x", count: 90 << 10) + ": z").utf8)),
        line(legal, "control characters in a value", Array("X-Y: ".utf8) + [1, 7, 27, 31, 127]),
        line(legal, "invalid UTF-8", Array("X-Y: ".utf8) + [0xC3, 0x28, 0xF0, 0x9F, 0xED, 0xA0, 0x80]),
        line(legal, "a CR in a value", Array("X-Y: a\rb".utf8)),
        line(legal, "a fold with tabs only", Array("X-Y: a\r\n\t\t".utf8)),
        line(legal, "10,000 folds", Array(("X-Y: a" + String(repeating: "\r\n b", count: 10_000)).utf8)),
        line("A malformed line, which is ignored", "a colon alone", Array(":".utf8)),
        line("A malformed line, which is ignored", "a control character in a name", Array("X\u{1}Y: z".utf8)),
        line("A malformed line, which is ignored", "a quoted name", Array("\"X\": z".utf8)),
        HostileCase(
            "A length whose name ends with a blank", bad, .head("Content-Length : 5"), .text("hello"), .hold),
        HostileCase("A length that is folded", bad, .head("Content-Length:\r\n 5"), .text("hello"), .hold),
        HostileCase(
            "Lines that end with a CR alone", bad, .text("HTTP/1.1 200 OK\rContent-Length: 5\r\rhello"), .close),
        HostileCase(
            "Lines that end in both ways", .hello,
            .text("HTTP/1.1 200 OK\nCache-Control: max-age=100\r\nContent-Length: 5\n\r\nhello")),
        HostileCase(
            "A head of more than 256 KB", "10 MB in lines of 1 KB", .error(.dataLengthExceedsMaximum), .openHead,
            .again([.text("X-Y: " + String(repeating: "y", count: 1_017) + "\r\n")], times: 10_000), .hold),
    ]

    private static func slow(_ text: String) -> [Reply.Piece] { text.map { .text(String($0)) } }

    private static let slowHeads: [HostileCase] = [
        HostileCase("A response in pieces of a byte", .hello) { _, _ in
            .script(
                slow(
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
                ))
        },
        HostileCase(
            "Sends a byte a second, forever", "in the head", .error(.timedOut), wait: .loadTimeout, .openHead,
            .text("X-Y: "), .again([.text("x"), .delay(1)], times: nil)),
        HostileCase(
            "Sends a byte a second, forever", "in a chunk size", .error(.timedOut), wait: .loadTimeout,
            .head("Transfer-Encoding: chunked"), .again([.text("0"), .delay(0.1)], times: 10), .hold),
    ]

    // MARK: Lengths and chunks

    private static func length(_ value: String, _ row: String, _ outcome: Outcome) -> HostileCase {
        HostileCase(
            row, value, outcome, .head("Content-Length:\(value)"), .text("hello"), outcome == .hello ? .nothing : .hold)
    }

    private static let lengthVariants: [HostileCase] = [
        length("005", "A legal but unusual length", .hello), length("  5\t", "A legal but unusual length", .hello),
        length(" 5,5 , 5", "A legal but unusual length", .hello),
        length(" 00000000000000000000000000000005", "A legal but unusual length", .hello),
        length(" 5,", "A length that is no number", bad), length(" ,5", "A length that is no number", bad),
        length(" 5,,5", "A length that is no number", bad), length(" 1e1", "A length that is no number", bad),
        length(" 5h", "A length that is no number", bad), length(" \"5\"", "A length that is no number", bad),
        length(" 5 5", "A length that is no number", bad), length(" 0b101", "A length that is no number", bad),
        length(" -0", "A length that is no number", bad), length(" 5\u{B}", "A length that is no number", bad),
        length(" 5\u{A0}", "A length that is no number", bad), length(" \u{665}", "A length that is no number", bad),
        HostileCase(
            "A length of 0, and a body", .response(status: 200, body: Data()), .head("Content-Length: 0"),
            .text("hello")),
        HostileCase(
            "A body of as many bytes as the limit allows",
            .response(status: 200, body: Data(repeating: 0x78, count: 1 << 20)),
            .head("Content-Length: 1048576"), .fill(1 << 20)),
        HostileCase(
            "A body of a byte more than the limit", .tooLarge, session: .tooLarge, .head(), .fill(1 << 20), .text("x"),
            .close),
    ]

    private static func coding(_ value: String, _ row: String, _ outcome: Outcome, _ body: String, _ end: Reply.Piece)
        -> HostileCase
    {
        HostileCase(row, value, outcome, .head("Transfer-Encoding: \(value)"), .text(body), end)
    }

    private static let helloInChunks = "5\r\nhello\r\n0\r\n\r\n"

    private static let transferCodingVariants: [HostileCase] = [
        coding("CHUNKED", "Chunks as RFC 9112 allows them", .hello, helloInChunks, .nothing),
        coding(", chunked ,", "Chunks as RFC 9112 allows them", .hello, helloInChunks, .nothing),
        coding("identity", "An unknown transfer coding, which is passed through", .hello, "hello", .close),
        coding("xchunked", "An unknown transfer coding, which is passed through", .hello, "hello", .close),
        coding("", "An unknown transfer coding, which is passed through", .hello, "hello", .close),
        HostileCase(
            "Chunks in chunks", "in one line", .hello, .head("Transfer-Encoding: chunked, chunked"), .text(helloInChunks)),
        HostileCase(
            "Chunks in chunks", "in two lines", .hello,
            .head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), .text(helloInChunks)),
        HostileCase(
            "Chunks from a server of HTTP/1.0", .hello,
            .head("Transfer-Encoding: chunked", status: "HTTP/1.0 200 OK"), .text(helloInChunks), .close),
    ]

    private static func chunked(
        _ row: String, _ variant: String, _ outcome: Outcome, _ text: String, _ end: Reply.Piece = .close
    ) -> HostileCase {
        HostileCase(
            row, variant, outcome, .head("Transfer-Encoding: chunked"), .text(text), outcome == .hello ? .nothing : end)
    }

    private static let chunkVariants: [HostileCase] = [
        chunked(
            "Chunks that are malformed, and understood", "a blank after a size", .hello, "5 \r\nhello\r\n0\r\n\r\n"),
        chunked("Chunks that are malformed, and understood", "line feeds alone", .hello, "5\nhello\n0\n\n"),
        chunked(
            "A chunk size that is no number or too large", "a blank before a size", lost, " 5\r\nhello\r\n0\r\n\r\n"),
        chunked("A chunk size that is no number or too large", "0x5", lost, "0x5\r\nhello\r\n0\r\n\r\n"),
        chunked("A chunk size that is no number or too large", "5h", .hello, "5h\r\nhello\r\n0\r\n\r\n"),
        chunked(
            "A chunk size that is no number or too large", "40 digits", lost,
            String(repeating: "0", count: 39) + "5\r\nhello\r\n0\r\n\r\n"),
        chunked("A chunk size that is no number or too large", "NUL", lost, "\0\r\nhello\r\n0\r\n\r\n"),
        chunked(
            "Chunks as RFC 9112 allows them", "capitals",
            .response(status: 200, body: Data(repeating: 0x78, count: 10)), "A\r\nxxxxxxxxxx\r\n0\r\n\r\n", .nothing),
        chunked(
            "Chunks as RFC 9112 allows them", "an extension of 60 KB", .hello,
            "5;" + String(repeating: "x", count: 60 << 10) + "\r\nhello\r\n0\r\n\r\n"),
        chunked("Chunks that are broken", "nothing at all", lost, ""),
        chunked("Chunks that are broken", "a body without them", lost, "hello"),
    ]

    private static let trailerVariants: [HostileCase] = [
        chunked(
            "A trailer that means something in a head", "a length", .hello,
            "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n"),
        chunked(
            "A trailer that means something in a head", "a coding", .hello,
            "5\r\nhello\r\n0\r\nContent-Encoding: gzip\r\nTransfer-Encoding: gzip\r\n\r\n"),
        chunked(
            "A trailer that means something in a head", "a location", .hello, "5\r\nhello\r\n0\r\nLocation: /x\r\n\r\n"),
        chunked(
            "A trailer that means something in a head", "a cookie", .hello, "5\r\nhello\r\n0\r\nSet-Cookie: a=b\r\n\r\n"
        ),
        chunked(
            "A trailer that is malformed, which is ignored", "no colon", .hello, "5\r\nhello\r\n0\r\nno colon\r\n\r\n"),
        chunked(
            "A trailer that is malformed, which is ignored", "folded", .hello, "5\r\nhello\r\n0\r\n folded\r\n\r\n"),
        chunked(
            "A trailer that is malformed, which is ignored", "a name above 127", .hello,
            "5\r\nhello\r\n0\r\né: x\r\n\r\n"),
    ]

    // MARK: Codings

    private static func coded(_ row: String, _ variant: String, _ coding: String, _ body: Data, _ outcome: Outcome)
        -> HostileCase
    {
        HostileCase(row, variant, outcome) { _, _ in
            .script(.head("Content-Encoding: \(coding)", "Content-Length: \(body.count)"), .bytes(body))
        }
    }

    private static let text = Outcome.text(Compressed.text)
    private static let undecodable = Outcome.error(.cannotDecodeContentData)

    private static let codingVariants: [HostileCase] = [
        coded("A complete coded body", "gzip between commas", ", gzip ,", Compressed.gzip.sample, text),
        coded(
            "A complete coded body", "gzip beside identity", "identity, gzip, identity", Compressed.gzip.sample, text),
        coded("An unknown coding, which is passed through", "with a parameter", "gzip;q=1", Data("hello".utf8), .hello),
        coded("An unknown coding, which is passed through", "no name", "", Data("hello".utf8), .hello),
        coded("An unknown coding, which is passed through", "commas", ",,", Data("hello".utf8), .hello),
        coded("An unknown coding, which is passed through", "compress", "compress", Data("hello".utf8), .hello),
        coded(
            "A body that is not what its coding says", "gzip, coded once less", "gzip, gzip", Compressed.gzip.sample,
            undecodable),
        coded(
            "A body that is not what its coding says", "reserved flags of gzip", "gzip",
            Data([0x1F, 0x8B, 8, 0xE0, 0, 0, 0, 0, 0, 3, 3, 0]), undecodable),
        coded(
            "A body that is not what its coding says", "a dictionary of zlib", "deflate",
            Data([0x78, 0xBB, 1, 2, 3, 4, 5, 6]), undecodable),
        coded(
            "A body that is not what its coding says", "a dictionary of zstd", "zstd",
            Data([0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 5, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C, 0x6F]), undecodable),
        coded(
            "A body that is not what its coding says", "a window of 1 GB of br", "br", Data([0x11, 0x1E, 0, 0, 0]),
            undecodable),
    ]

    private static let codingAttacks: [HostileCase] = [
        HostileCase(
            "A coded body that decodes to nothing, without end", "the name in a gzip head",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: gzip"),
            .bytes(Data([0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3])), .again([.block], times: nil)),
        HostileCase(
            "A coded body that decodes to nothing, without end", "a skippable zstd frame of 4 GB",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: zstd"),
            .bytes(Data([0x50, 0x2A, 0x4D, 0x18, 0xFF, 0xFF, 0xFF, 0xFF])), .again([.block], times: nil)),
        HostileCase(
            "A coded body that decodes to nothing, without end", "empty blocks of deflate",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: deflate"), .bytes(Data([0x78, 0x9C])),
            .again([.bytes(Data((0..<1_000).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] }))], times: nil)),
        HostileCase("A bomb in chunks of a byte", .tooLarge) { _, _ in
            .script(
                [.head("Content-Encoding: zstd", "Transfer-Encoding: chunked")]
                    + [0x28, 0xB5, 0x2F, 0xFD, 0, 0x38].map { .bytes(Data("1\r\n".utf8) + [$0] + Data("\r\n".utf8)) }
                    + [
                        .again(
                            [
                                .bytes(
                                    Data([2, 0, 0x10, 0].flatMap { Array("1\r\n".utf8) + [$0] + Array("\r\n".utf8) }))
                            ], times: nil)
                    ])
        },
    ]

    // MARK: Statuses, redirects and fields

    private static let unusualStatuses: [HostileCase] =
        [202, 203, 226, 299].map {
            HostileCase("An unusual status", "\($0)", .text("hello"), .response(status: "HTTP/1.1 \($0) X")).notStored()
        }
        + [300, 304, 305, 306, 399, 418, 451, 499, 511, 599, 600, 999].map { status in
            HostileCase(
                "An unusual status", "\(status)",
                .response(status: status, body: Data((status == 304 ? "" : "hello").utf8)),
                .response(status: "HTTP/1.1 \(status) X"))
        }
        + [
            HostileCase(
                "Interim responses before the response", "199, with a length", .hello,
                .text("HTTP/1.1 199 X\r\nContent-Length: 9\r\n\r\n"), .response()),
            HostileCase(
                "Interim responses before the response", "100 alone, without fields, 60 times", .hello,
                .again([.text("HTTP/1.1 100 Continue\r\n\r\n")], times: 60), .response()),
            HostileCase(
                "Too many interim responses", "10,000 × 100", bad,
                .again([.text("HTTP/1.1 100 Continue\r\n\r\n")], times: 10_000), .response()),
            HostileCase(
                "Closes the connection", "after an interim response", lost, .text("HTTP/1.1 103 Early Hints\r\n\r\n"),
                .close),
        ]

    private static func redirect(_ row: String, _ location: String, _ outcome: Outcome, status: Int = 302)
        -> HostileCase
    {
        HostileCase(
            row, location, outcome,
            .text("HTTP/1.1 \(status) X\r\nLocation: \(location)\r\nContent-Length: 5\r\n\r\nmoved")
        ).notStored()
    }

    private static let redirectVariants: [HostileCase] =
        [
            "target", "./target", "../../target", "/x/../target", "?/../target", "/target#a", "\\target", "/tar\tget",
            " /target ", "//127.0.0.1:PORT/target", "HTTP://127.0.0.1:PORT/target",
            "http://user:pass@127.0.0.1:PORT/target", "http://2130706433:PORT/target", "http://0x7f.1:PORT/target",
            "http://localhost:PORT/target",
        ]
        .map { location in
            HostileCase("Redirects in an unusual way", location, .hello) { server, _ in
                server["/case/target"] = Reply("hello", fields: ["Cache-Control": "max-age=100"])
                server["/case"] = nil
                let here = location.replacingOccurrences(of: "PORT", with: "\(server.port)")
                return .script(.redirect("Location: \(here)", "Content-Length: 0"))
            }
        }
        + [
            redirect("Redirects to a port that is none", "//127.0.0.1:65536/", .error(.badURL)),
            redirect("Redirects to a port that is none", "//127.0.0.1:-1/", .error(.badURL)),
            redirect("Redirects to a port that is none", "//127.0.0.1:99999999999999999999/", .error(.badURL)),
            redirect("Redirects to a host that is none", "//a%0d%0ab/", .error(.badURL)),
            redirect("Redirects to a host that is none", "//[fe80::1%25lo]/", .error(.badURL)),
            redirect("Redirects to a host that is none", "//[127.0.0.1]/", .error(.badURL)),
            redirect("Redirects to a host that is none", "//a%09b/", .error(.badURL)),
            redirect("Redirects to a host that is none", "//%20/", .error(.badURL)),
            redirect("Redirects to a host that is none", "//a%25%30%30b/", .error(.badURL)),
        ]
        + [301, 303, 307, 308].map { status in
            HostileCase("Redirects in an unusual way", "\(status)", .hello) { _, _ in
                .redirect(to: "/target", status: status)
            }
        }
        + [
            HostileCase(
                "Redirects to two places", .error(.badServerResponse),
                .redirect("Location: /target", "Location: /other", "Content-Length: 0")),
            HostileCase("Redirects to each other", .error(.httpTooManyRedirects)) { server, path in
                server["/there"] = .redirect(to: path)
                return .redirect(to: "/there")
            },
        ]

    private static let fieldVariants: [HostileCase] = [
        "Keep-Alive: timeout=99999999999999999999, max=-1", "Connection: close, Cache-Control, Content-Length",
        "Connection: upgrade", "Alt-Svc: h2=\":1\"; ma=99999999999", "Strict-Transport-Security: max-age=99999999999",
        "Refresh: 0; url=/", "Content-Type: " + String(repeating: "a/", count: 10_000), "Content-Type: ;;;=\"",
        "Content-Range: bytes 0-4/5", "Accept-Ranges: " + String(repeating: ",", count: 10_000),
        "ETag: \"" + String(repeating: "e", count: 50_000), "Last-Modified: 99999999999999999999",
        "Date: Thu, 99 Foo 99999 99:99:99 GMT", "Link: <" + String(repeating: "<", count: 10_000),
        "Trailer: Content-Length", "Upgrade: h2c", "Proxy-Authenticate: Basic", "WWW-Authenticate: Basic realm=\"",
        "Set-Cookie2: a=b", "X-Frame-Options: %s%n%x", "Content-Location: //a%20b/", "Content-Length-X: 9",
    ].map { line("A field that does not matter", String($0.prefix(30)), Array($0.utf8)) }
}
