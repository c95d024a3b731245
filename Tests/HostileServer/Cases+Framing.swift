import Foundation
import ScriptedServer

/// Lengths and chunks that are wrong, contradict each other or have no end.
extension HostileCase {
    private static func length(_ value: String, _ row: String, _ outcome: Outcome, _ end: Reply.Piece = .hold)
        -> HostileCase
    {
        HostileCase(
            row, value, outcome, .head("Content-Length: \(value)"), .text("hello"), outcome == .hello ? .nothing : end)
    }

    static let lengths: [HostileCase] = [malformedLengths, hugeLengths, wrongLengths].flatMap { $0 }

    private static let malformedLengths: [HostileCase] = [
        "-5", "+5", "5.0", "0x5", "five", "5 5", "5;", "5,6", "\u{FF15}",
    ].map {
        length($0, "An invalid length", .error(.badServerResponse))
    }

    private static let hugeLengths: [HostileCase] = [
        "9223372036854775808", "18446744073709551621", String(repeating: "9", count: 1_000),
    ].map {
        length($0.count > 99 ? "1,000 digits" : $0, $0, "A length beyond 2^63", .error(.badServerResponse))
    }

    private static let wrongLengths: [HostileCase] = [
        HostileCase(
            "A length of 2^63 − 1, and five bytes", .tooLarge, session: .error(.networkConnectionLost),
            .head("Content-Length: 9223372036854775807"), .text("hello"), .close),
        HostileCase(
            "A length larger than the limit, and nothing", .tooLarge, session: .error(.timedOut),
            .head("Content-Length: 1048577"), .hold),
        length("", "An empty length", .error(.badServerResponse)),
        length("5, 5", "Equal lengths in one line", .hello),
        HostileCase(
            "Two lengths that differ", "5 and 9", .error(.badServerResponse),
            .head("Content-Length: 5", "Content-Length: 9"), .text("helloworld"), .hold),
        HostileCase(
            "Two lengths that differ", "9 and 5", .error(.badServerResponse),
            .head("Content-Length: 9", "Content-Length: 5"), .text("helloworld"), .hold),
        HostileCase(
            "A body longer than its length", "one more word", .hello, .head("Content-Length: 5"),
            .text("hello world")),
        // In one piece: a response that arrives after the next request has been sent can't be told from its answer.
        HostileCase(
            "A body longer than its length", "surplus bytes that look like a response", .hello,
            .head("Content-Length: 5"),
            .text("helloHTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 5\r\n\r\nwrong")),
        HostileCase(
            "A body shorter than its length", .error(.networkConnectionLost), .head("Content-Length: 9"),
            .text("hello"), .close),
        HostileCase(
            "204 with a body", .response(status: 204, body: Data()),
            .text("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")),
        HostileCase(
            "304 with a body, to a request without a condition", .response(status: 304, body: Data()),
            .text("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello")),
        HostileCase(
            "A body without a length, without end", .tooLarge, .head(), .fill(64 << 20),
            .again([.fill(1 << 20)], times: nil)),
        HostileCase("A body of 1 GB without a length", .tooLarge, .head(), .fill(1 << 30), .close),
    ]

    private static func length(_ variant: String, _ value: String, _ row: String, _ outcome: Outcome) -> HostileCase {
        HostileCase(row, variant, outcome, .head("Content-Length: \(value)"), .text("hello"), .hold)
    }

    private static func chunked(
        _ row: String, _ variant: String, _ outcome: Outcome, _ text: String, _ end: Reply.Piece = .hold
    ) -> HostileCase {
        HostileCase(
            row, variant, outcome, .head("Transfer-Encoding: chunked"), .text(text), outcome == .hello ? .nothing : end)
    }

    static let chunks: [HostileCase] = [
        legalChunks, malformedChunkSizes, malformedChunks, endlessChunks,
    ].flatMap { $0 }

    private static let legalChunks: [HostileCase] = [
        chunked(
            "Chunks as RFC 9112 allows them", "one byte each", .hello,
            "1\r\nh\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n0\r\n\r\n"),
        chunked("Chunks as RFC 9112 allows them", "an extension", .hello, "5;name=\"value\"\r\nhello\r\n0;x\r\n\r\n"),
        chunked("Chunks as RFC 9112 allows them", "leading zeros", .hello, "0005\r\nhello\r\n000\r\n\r\n"),
        chunked(
            "Chunks as RFC 9112 allows them", "a trailer", .hello,
            "5\r\nhello\r\n0\r\nX-Trailer: a\r\nETag: \"2\"\r\n\r\n"),
        chunked(
            "Chunks as RFC 9112 allows them", "an empty trailer value", .hello, "5\r\nhello\r\n0\r\nX-Trailer:\r\n\r\n"),
        HostileCase(
            "A length beside chunks, which is ignored", "the length field first", .hello,
            .head("Content-Length: 3", "Transfer-Encoding: chunked"), .text("5\r\nhello\r\n0\r\n\r\n")),
        HostileCase(
            "A length beside chunks, which is ignored", "the coding field first", .hello,
            .head("Transfer-Encoding: chunked", "Content-Length: 300"), .text("5\r\nhello\r\n0\r\n\r\n")),
        HostileCase(
            "A length beyond 2^63 beside chunks", .error(.badServerResponse),
            .head("Transfer-Encoding: chunked", "Content-Length: 99999999999999999999"),
            .text("5\r\nhello\r\n0\r\n\r\n")),
    ]

    private static let malformedChunkSizes: [HostileCase] = [
        "-5", "+5", "", "x", "fffffffffffffffff", "8000000000000000", "ffffffffffffffff",
    ]
    .map {
        chunked(
            "A chunk size that is invalid or too large", $0, .error(.networkConnectionLost),
            "\($0)\r\nhello\r\n0\r\n\r\n", .close)
    }

    private static let malformedChunks: [HostileCase] = [
        chunked(
            "Broken chunks", "no line break after a chunk", .error(.networkConnectionLost),
            "5\r\nhello0\r\n\r\n"),
        chunked(
            "Broken chunks", "a chunk longer than its size", .error(.networkConnectionLost),
            "3\r\nhello\r\n0\r\n\r\n"),
        chunked(
            "Broken chunks", "no last chunk", .error(.networkConnectionLost), "5\r\nhello\r\n", .close),
        chunked(
            "Broken chunks", "a chunk of 2^63 − 1 bytes", .error(.networkConnectionLost),
            "7fffffffffffffff\r\nhello\r\n0\r\n\r\n", .close),
        chunked(
            "Broken chunks", "the last chunk without its end", .error(.networkConnectionLost),
            "5\r\nhello\r\n0\r\n", .close),
    ]

    private static let endlessChunks: [HostileCase] = [
        HostileCase(
            "A chunk size without end", .error(.networkConnectionLost), .head("Transfer-Encoding: chunked"),
            .again([.bytes(Data(repeating: 0x30, count: 16 << 10))], times: nil)),
        HostileCase(
            "A chunk extension without end", .error(.networkConnectionLost),
            .head("Transfer-Encoding: chunked"), .text("5;"), .again([.block], times: nil)),
        HostileCase(
            "Chunks without end", .tooLarge, .head("Transfer-Encoding: chunked"),
            .again([.text("4000\r\n"), .block, .text("\r\n")], times: nil)),
        HostileCase(
            "A line of 10 MB in a trailer", .error(.networkConnectionLost),
            .head("Transfer-Encoding: chunked"), .text("5\r\nhello\r\n0\r\nX: "), .fill(10 << 20), .hold),
        HostileCase(
            "A trailer of more than 256 KB", "lines without end", .error(.dataLengthExceedsMaximum),
            .head("Transfer-Encoding: chunked"), .text("5\r\nhello\r\n0\r\n"),
            .again([.text(String(repeating: "X: y\r\n", count: 1_000))], times: nil)),
    ]
}
