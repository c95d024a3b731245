import Foundation
import ScriptedServer

/// Heads that are too large, malformed, or merely unusual.
extension HostileCase {
    /// A line in the head of an otherwise ordinary response.
    private static func line(_ row: String, _ variant: String, _ line: String, _ outcome: Outcome = .hello)
        -> HostileCase
    {
        HostileCase(row, variant, outcome, .response(line))
    }

    private static func bytes(_ row: String, _ variant: String, _ line: [UInt8], _ outcome: Outcome = .hello)
        -> HostileCase
    {
        HostileCase(
            row, variant, outcome, .openHead, .bytes(Data(line)), .text("\r\nContent-Length: 5\r\n\r\nhello"))
    }

    static let heads: [HostileCase] = [
        largeHeads, unusualHeads, malformedHeads, interimHeads,
    ].flatMap { $0 }

    private static let largeHeads: [HostileCase] = [
        HostileCase(
            "A head of 250 KB", .hello, .openHead,
            .again([.text("X-Y: " + String(repeating: "y", count: 993) + "\r\n")], times: 250),
            .text("Content-Length: 5\r\n\r\nhello")),
        HostileCase(
            "30,000 short lines", .hello, .openHead,
            .again([.text(String(repeating: "X: y\r\n", count: 1_000))], times: 30),
            .text("Content-Length: 5\r\n\r\nhello")),
        HostileCase(
            "A long `Content-Type` or `Content-Disposition`", "90 KB", .hello, .openHead,
            .text("Content-Type: text/plain" + String(repeating: ";", count: 90_000) + "\r\n"),
            .text("Content-Disposition: attachment" + String(repeating: ";", count: 90_000) + "\r\n"),
            .text("Content-Length: 5\r\n\r\nhello")),
        HostileCase(
            "A long `Content-Type` or `Content-Disposition`", "in many lines", .hello, .openHead,
            .again([.text("Content-Type: a/b; c=\"\r\nContent-Disposition: a; b=\"\r\n")], times: 4_000),
            .text("Content-Length: 5\r\n\r\nhello")),
        HostileCase(
            "A line of more than 100 KB", "10 MB", .error(.badServerResponse), .openHead,
            .text("X: "), .fill(10 << 20), .hold),
        HostileCase(
            "A line of more than 100 KB", "without end", .error(.badServerResponse), .openHead,
            .text("X: "),
            .again([.block], times: nil)),
        HostileCase(
            "A line of more than 100 KB", "a status line of 10 MB", .error(.badServerResponse),
            .text("HTTP/1.1 200 "), .fill(10 << 20), .hold),
        HostileCase(
            "A head of more than 256 KB", "100,000 lines", .error(.dataLengthExceedsMaximum), .openHead,
            .again([.text(String(repeating: "X: y\r\n", count: 1_000))], times: 100), .hold),
        HostileCase(
            "A head of more than 256 KB", "lines without end", .error(.dataLengthExceedsMaximum), .openHead,
            .again([.text(String(repeating: "X: y\r\n", count: 1_000))], times: nil)),
    ]

    private static let unusualHeads: [HostileCase] = [
        line("A legal but unusual head", "no space after the colon", "X-Y:z"),
        line("A legal but unusual head", "an empty value", "X-Y:"),
        line("A legal but unusual head", "a value of spaces", "X-Y:  "),
        line("A legal but unusual head", "tabs around a value", "X-Y:\tz\t"),
        bytes("A legal but unusual head", "Latin-1", Array("X-Y: caf".utf8) + [0xE9]),
        bytes("A legal but unusual head", "UTF-8", Array("X-Y: é 🎉".utf8)),
        HostileCase("A legal but unusual head", "no reason", .hello, .response(status: "HTTP/1.1 200")),
        HostileCase(
            "A malformed status line, which is accepted", "no space after the status", .hello,
            .response(status: "HTTP/1.1 200OK")),
        HostileCase("A legal but unusual head", "an empty reason", .hello, .response(status: "HTTP/1.1 200 ")),
        HostileCase(
            "A legal but unusual head", "a reason in UTF-8", .hello, .response(status: "HTTP/1.1 200 Très bien")),
        HostileCase(
            "A legal but unusual head", "bare LF", .hello,
            .text("HTTP/1.1 200 OK\nCache-Control: max-age=100\nContent-Length: 5\n\nhello")),
        HostileCase("A legal but unusual head", "a folded line", .hello, .response("X-Y: a\r\n b")),
        HostileCase("A legal but unusual head", "HTTP/1.0 with a length", .hello, .response(status: "HTTP/1.0 200 OK")),
        HostileCase("A legal but unusual head", "equal lengths twice", .hello, .response("Content-Length: 5")),
    ]

    private static let malformedHeads: [HostileCase] = [
        line("A line without a colon", "", "this line has no colon", .error(.badServerResponse)),
        line("A malformed field line, which is left out", "no name", ": y"),
        line("A malformed field line, which is left out", "a space before the colon", "X-Y : z"),
        line("A malformed field line, which is left out", "a name with a space", "X Y: z"),
        bytes("A malformed field line, which is left out", "a name with a byte above 127", [0xE9] + Array(": y".utf8)),
        bytes(
            "A NUL in the head", "in a value", Array("X-Y: a".utf8) + [0] + Array("b".utf8), .error(.badServerResponse)),
        bytes("A NUL in the head", "in a name", Array("X".utf8) + [0] + Array("Y: b".utf8), .error(.badServerResponse)),
        HostileCase(
            "A folded line at the start of the head", .error(.badServerResponse),
            .text("HTTP/1.1 200 OK\r\n X: y\r\nCache-Control: max-age=100\r\nContent-Length: 5\r\n\r\nhello")),
    ]

    private static let interimHeads: [HostileCase] = [
        HostileCase(
            "Interim responses before the response", "100", .hello, .text("HTTP/1.1 100 Continue\r\n\r\n"), .response()),
        HostileCase(
            "Interim responses before the response", "103", .hello,
            .text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nSet-Cookie: a=b\r\n\r\n"),
            .response()),
        HostileCase(
            "Too many interim responses", "10,000", .error(.badServerResponse),
            .again([.text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")], times: 10_000),
            .response()),
        HostileCase(
            "Too many interim responses", "without end", .error(.badServerResponse),
            .again([.text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")], times: nil)),
        HostileCase(
            "101 without being asked to upgrade", .error(.badServerResponse),
            .head("Upgrade: websocket", "Connection: Upgrade", status: "HTTP/1.1 101 Switching Protocols"),
            .text("hello"), .hold),
    ]

    static let statusLines: [HostileCase] = [statuses, versions, bare].flatMap { $0 }

    private static let statuses: [HostileCase] = ["000", "99", "1000", "-1", "20", "2OO", "0200", "+200", ""]
        .map {
            HostileCase(
                "An invalid status", $0, .error(.badServerResponse), .response(status: "HTTP/1.1 \($0) X"), .close)
        }

    private static let versions: [HostileCase] = [
        "HTTP/0.9 200 OK", "HTTP/1.12 200 OK", "HTTP/9.9 200 OK", "HTTP/ 200 OK", "ICY 200 OK", "SSH-2.0-server",
        " HTTP/1.1 200 OK",
    ].map {
        HostileCase("An invalid version", $0, .error(.badServerResponse), .response(status: $0), .close)
    }

    private static let bare: [HostileCase] = [
        HostileCase("HTTP/0.9: a body without a head", "text", .error(.badServerResponse), .text("hello"), .close),
        HostileCase(
            "HTTP/0.9: a body without a head", "bytes", .error(.badServerResponse),
            .bytes(Data((0...255).map { $0 })), .close),
        HostileCase(
            "HTTP/0.9: a body without a head", "an empty line first", .error(.badServerResponse), .text("\r\n\r\n"),
            .response(), .close),
        HostileCase(
            "HTTP/0.9: a body without a head", "without end", .error(.badServerResponse),
            .again([.block], times: nil)),
    ]
}
