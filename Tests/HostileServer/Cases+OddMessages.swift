import Foundation
import ScriptedServer

/// Heads and framings between the legal and the malformed.
extension HostileCase {
    static let oddMessages: [HostileCase] = [
        statusVariants, lineVariants, slowHeads, lengthVariants, transferCodingVariants, chunkVariants, trailerVariants,
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
            "A malformed status line, which is accepted", "two spaces after the version", .hello,
            .response(status: "HTTP/1.1  200 OK")),
        HostileCase(
            "A malformed status line, which is accepted", "a version in lower case", .hello,
            .response(status: "http/1.1 200 OK")),
        HostileCase(
            "An invalid version", "a tab after the version", bad, .response(status: "HTTP/1.1\t200 OK"), .close),
        HostileCase("An invalid version", "HTTP/2 200", bad, .response(status: "HTTP/2 200"), .close),
        HostileCase("An invalid version", "HTTP/3 200", bad, .response(status: "HTTP/3 200"), .close),
        HostileCase("An invalid version", "HTTP/1.1200 OK", bad, .response(status: "HTTP/1.1200 OK"), .close),
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
        line("A malformed field line, which is left out", "a colon alone", Array(":".utf8)),
        line("A malformed field line, which is left out", "a control character in a name", Array("X\u{1}Y: z".utf8)),
        line("A malformed field line, which is left out", "a quoted name", Array("\"X\": z".utf8)),
        HostileCase(
            "A length whose name ends with a space", bad, .head("Content-Length : 5"), .text("hello"), .hold),
        HostileCase("A folded length", bad, .head("Content-Length:\r\n 5"), .text("hello"), .hold),
        HostileCase(
            "Lines that end with a CR alone", lost, .text("HTTP/1.1 200 OK\rContent-Length: 5\r\rhello"), .close),
        HostileCase(
            "Lines that end with LF or with CR LF", .hello,
            .text("HTTP/1.1 200 OK\nCache-Control: max-age=100\r\nContent-Length: 5\n\r\nhello")),
        HostileCase(
            "A head of more than 256 KB", "10 MB in lines of 1 KB", .error(.dataLengthExceedsMaximum), .openHead,
            .again([.text("X-Y: " + String(repeating: "y", count: 1_017) + "\r\n")], times: 10_000), .hold),
    ]

    private static func slow(_ text: String) -> [Reply.Piece] { text.map { .text(String($0)) } }

    private static let slowHeads: [HostileCase] = [
        HostileCase("A response in pieces of one byte", .hello) { _, _ in
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
        length(" 5,", "An invalid length", bad), length(" ,5", "An invalid length", bad),
        length(" 5,,5", "An invalid length", bad), length(" 1e1", "An invalid length", bad),
        length(" 5h", "An invalid length", bad), length(" \"5\"", "An invalid length", bad),
        length(" 5 5", "An invalid length", bad), length(" 0b101", "An invalid length", bad),
        length(" -0", "An invalid length", bad), length(" 5\u{B}", "An invalid length", bad),
        length(" 5\u{A0}", "An invalid length", bad), length(" \u{665}", "An invalid length", bad),
        HostileCase(
            "A length of 0, and a body", .response(status: 200, body: Data()), .head("Content-Length: 0"),
            .text("hello")),
        HostileCase(
            "A body exactly as large as the limit",
            .response(status: 200, body: Data(repeating: 0x78, count: 1 << 20)),
            .head("Content-Length: 1048576"), .fill(1 << 20)),
        HostileCase(
            "A body one byte larger than the limit", .tooLarge, session: .tooLarge, .head(), .fill(1 << 20), .text("x"),
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
        HostileCase(
            "An unknown transfer coding, which is passed through", "no name", .hello, .head("Transfer-Encoding:"),
            .text("hello"), .close),
        coding("chunked;a=b", "A malformed transfer coding", bad, helloInChunks, .close),
        coding("\"chunked\"", "A malformed transfer coding", bad, helloInChunks, .close),
        coding(";chunked", "A malformed transfer coding", bad, helloInChunks, .close),
        coding("chun ked", "A malformed transfer coding", bad, helloInChunks, .close),
        coding("gzip, chunked;a", "A malformed transfer coding", bad, helloInChunks, .close),
        HostileCase(
            "Chunks in chunks", "in one line", .hello, .head("Transfer-Encoding: chunked, chunked"),
            .text(helloInChunks)),
        HostileCase(
            "Chunks in chunks", "in two lines", .hello,
            .head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), .text(helloInChunks)),
        HostileCase(
            "Chunks from an HTTP/1.0 server", .hello,
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
            "Malformed chunks, which are accepted", "a space after a size", .hello, "5 \r\nhello\r\n0\r\n\r\n"),
        chunked("Malformed chunks, which are accepted", "line feeds alone", .hello, "5\nhello\n0\n\n"),
        chunked(
            "A chunk size that is invalid or too large", "a space before a size", lost, " 5\r\nhello\r\n0\r\n\r\n"),
        chunked("A chunk size that is invalid or too large", "0x5", lost, "0x5\r\nhello\r\n0\r\n\r\n"),
        chunked("A chunk size that is invalid or too large", "5h", lost, "5h\r\nhello\r\n0\r\n\r\n"),
        chunked(
            "A chunk size that is invalid or too large", "0x9, like a last chunk", lost,
            "0x9\r\n\r\nabcdefg\r\n0\r\n\r\n"),
        chunked(
            "A chunk size that is invalid or too large", "0xa behind a chunk", lost,
            "5\r\nhello\r\n0xa\r\n\r\n\r\nworld!!\r\n0\r\n\r\n"),
        chunked(
            "A chunk size that is invalid or too large", "40 digits", lost,
            String(repeating: "0", count: 39) + "5\r\nhello\r\n0\r\n\r\n"),
        chunked("A chunk size that is invalid or too large", "NUL", lost, "\0\r\nhello\r\n0\r\n\r\n"),
        chunked(
            "Chunks as RFC 9112 allows them", "a hexadecimal size in capitals",
            .response(status: 200, body: Data(repeating: 0x78, count: 10)), "A\r\nxxxxxxxxxx\r\n0\r\n\r\n", .nothing),
        chunked(
            "Chunks as RFC 9112 allows them", "an extension of 60 KB", .hello,
            "5;" + String(repeating: "x", count: 60 << 10) + "\r\nhello\r\n0\r\n\r\n"),
        chunked("Broken chunks", "no bytes at all", lost, ""),
        chunked("Broken chunks", "a body that is not in chunks", lost, "hello"),
    ]

    private static let trailerVariants: [HostileCase] = [
        chunked(
            "A trailer field meant for the head", "a length", .hello,
            "5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n"),
        chunked(
            "A trailer field meant for the head", "a coding", .hello,
            "5\r\nhello\r\n0\r\nContent-Encoding: gzip\r\nTransfer-Encoding: gzip\r\n\r\n"),
        chunked(
            "A trailer field meant for the head", "a location", .hello, "5\r\nhello\r\n0\r\nLocation: /x\r\n\r\n"),
        chunked(
            "A trailer field meant for the head", "a cookie", .hello, "5\r\nhello\r\n0\r\nSet-Cookie: a=b\r\n\r\n"
        ),
        chunked(
            "A malformed trailer, which is ignored", "without a colon", .hello, "5\r\nhello\r\n0\r\nno colon\r\n\r\n"),
        chunked(
            "A malformed trailer, which is ignored", "folded", .hello, "5\r\nhello\r\n0\r\n folded\r\n\r\n"),
        chunked(
            "A malformed trailer, which is ignored", "a name with a byte above 127", .hello,
            "5\r\nhello\r\n0\r\né: x\r\n\r\n"),
    ]
}
