import Foundation
import ScriptedServer

/// Codings, statuses, redirects and fields between the legal and the malformed.
extension HostileCase {
    static let oddAnswers: [HostileCase] = [
        codingVariants, codingAttacks, unusualStatuses, redirectVariants, badRedirects, redirectStatuses,
        redirectsElsewhere, fieldVariants,
    ].flatMap { $0 }

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
            "A body that does not match its coding", "gzip coded once instead of twice", "gzip, gzip",
            Compressed.gzip.sample,
            undecodable),
        coded(
            "A body that does not match its coding", "reserved flags of gzip", "gzip",
            Data([0x1F, 0x8B, 8, 0xE0, 0, 0, 0, 0, 0, 3, 3, 0]), undecodable),
        coded(
            "A body that does not match its coding", "a dictionary of zlib", "deflate",
            Data([0x78, 0xBB, 1, 2, 3, 4, 5, 6]), undecodable),
        coded(
            "A body that does not match its coding", "a dictionary of zstd", "zstd",
            Data([0x28, 0xB5, 0x2F, 0xFD, 0x21, 7, 5, 0x29, 0, 0, 0x68, 0x65, 0x6C, 0x6C, 0x6F]), undecodable),
        coded(
            "A body that does not match its coding", "a window of 1 GB of br", "br", Data([0x11, 0x1E, 0, 0, 0]),
            undecodable),
    ]

    private static let codingAttacks: [HostileCase] = [
        HostileCase(
            "An endless coded body that decodes to nothing", "the name in a gzip head",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: gzip"),
            .bytes(Data([0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 3])), .again([.block], times: nil)),
        HostileCase(
            "An endless coded body that decodes to nothing", "a skippable zstd frame of 4 GB",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: zstd"),
            .bytes(Data([0x50, 0x2A, 0x4D, 0x18, 0xFF, 0xFF, 0xFF, 0xFF])), .again([.block], times: nil)),
        HostileCase(
            "An endless coded body that decodes to nothing", "empty blocks of deflate",
            .error(.dataLengthExceedsMaximum), .head("Content-Encoding: deflate"), .bytes(Data([0x78, 0x9C])),
            .again([.bytes(Data((0..<1_000).flatMap { _ in [0, 0, 0, 0xFF, 0xFF] as [UInt8] }))], times: nil)),
        HostileCase("A bomb in chunks of one byte", .tooLarge) { _, _ in
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
        [202, 203, 226, 299].map { status in
            HostileCase("An unusual status", "\(status)", .response(status: status, body: Data("hello".utf8))) { _, _ in
                .script(.response(status: "HTTP/1.1 \(status) X"))
            }
        }
        + [300, 304, 305, 306, 399, 418, 451, 499, 511, 599, 600, 999].map { status in
            HostileCase(
                "An unusual status", "\(status)",
                .response(status: status, body: Data((status == 304 ? "" : "hello").utf8)),
                .response(status: "HTTP/1.1 \(status) X")
            ).stored(status != 304)
        }
        + [
            HostileCase(
                "Interim responses before the response", "199, with a length", .hello,
                .text("HTTP/1.1 199 X\r\nContent-Length: 9\r\n\r\n"), .response()),
            HostileCase(
                "Interim responses before the response", "100 alone, without fields, 60 times", .hello,
                .again([.text("HTTP/1.1 100 Continue\r\n\r\n")], times: 60), .response()),
            HostileCase(
                "Too many interim responses", "10,000 × 100", .error(.badServerResponse),
                .again([.text("HTTP/1.1 100 Continue\r\n\r\n")], times: 10_000), .response()),
            HostileCase(
                "Closes the connection", "after an interim response", .error(.networkConnectionLost),
                .text("HTTP/1.1 103 Early Hints\r\n\r\n"),
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
            "target", "./target", "../../target", "/x/../target", "/target#a", "\\target", "/tar\tget",
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

    private static let badRedirects: [HostileCase] = [
        redirect("Redirects to an invalid port", "//127.0.0.1:65536/", .error(.badURL)),
        redirect("Redirects to an invalid port", "//127.0.0.1:-1/", .error(.badURL)),
        redirect("Redirects to an invalid port", "//127.0.0.1:99999999999999999999/", .error(.badURL)),
        redirect("Redirects to an invalid host", "//a%0d%0ab/", .error(.badURL)),
        redirect("Redirects to an invalid host", "//[127.0.0.1]/", .error(.badURL)),
        redirect("Redirects to an invalid host", "//a%09b/", .error(.badURL)),
        redirect("Redirects to an invalid host", "//%20/", .error(.badURL)),
        redirect("Redirects to a host that does not exist", "//a%25%30%30b/", .error(.cannotFindHost)),
    ]

    private static let redirectStatuses: [HostileCase] = [301, 303, 307, 308].map { status in
        HostileCase("Redirects in an unusual way", "\(status)", .hello) { _, _ in
            .redirect(to: "/target", status: status)
        }.stored(status == 301 || status == 308)
    }

    private static let redirectsElsewhere: [HostileCase] = [
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
    ].map {
        HostileCase("A field that does not matter", shortened($0), .hello, .response($0))
    }

    private static func shortened(_ field: String) -> String {
        field.count > 30 ? "\(field.prefix(30))…" : field
    }
}
