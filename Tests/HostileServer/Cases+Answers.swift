import Foundation
import ScriptedServer

/// Redirects, challenges, cookies and uploads.
extension HostileCase {
    private static func redirect(_ row: String, _ location: String, _ outcome: Outcome, name: String? = nil)
        -> HostileCase
    {
        HostileCase(
            row, name ?? location, outcome,
            .text("HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 5\r\n\r\nmoved"))
    }

    static let redirects: [HostileCase] = [
        badHosts, badSchemes, badTargets, goodTargets, bodies,
    ].flatMap { $0 }

    private static let badHosts: [HostileCase] = [
        "//a%20b/", "//%00/", "//a%00b/", "//a%2fb/", "//a%5cb/", "//a%23b/", "//a%3fb/", "//a%5b/", "//a b/", "//[/",
        "//[::1/", "//[::g]/", "//a:b/", "//:80:80/", "//<>/", "//a|b/",
    ].map { redirect("Redirects to an invalid host", $0, .error(.badURL)) }

    private static let badSchemes: [HostileCase] = [
        "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "javascript:alert(1)", "data:,x",
        "dict://127.0.0.1/", "telnet://127.0.0.1/", "http://", "http:///x", "//%ff/",
    ].map {
        redirect("Redirects to another scheme, or to no host", $0, .error(.unsupportedURL))
    }

    private static let badTargets: [HostileCase] = [
        redirect("Redirects to a host that does not exist", "//a%25b/", .error(.cannotFindHost)),
        redirect("Redirects to a host that does not exist", "//%7f/", .error(.cannotFindHost)),
        redirect("Redirects to an invalid port", "//127.0.0.1:99999/", .error(.badURL)),
        redirect("Redirects to a port without a listener", "//127.0.0.1:1/", .error(.cannotConnectToHost)),
        HostileCase("Redirects to the URL of the request", .error(.httpTooManyRedirects)) { _, path in
            .redirect(to: path)
        },
        HostileCase("Redirects to a new URL each time", .error(.httpTooManyRedirects)) { server, _ in
            server.handle("/again") { request in .redirect(to: "/again?\(request.number)") }
            return .redirect(to: "/again")
        },
    ]

    private static let goodTargets: [HostileCase] = [
        HostileCase("Redirects to an IPv6 literal", .hello) {
            server, _ in
            .script(.redirect("Location: http://[::ffff:127.0.0.1]:\(server.port)/target", "Content-Length: 0"))
        },
        redirect(
            "Redirects with an empty `Location`", "", .response(status: 302, body: Data("moved".utf8)), name: ""),
        HostileCase(
            "Redirects without a `Location`", .response(status: 302, body: Data("moved".utf8)),
            .text("HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nmoved")),
        HostileCase("Redirects to a URL with a path of 50 KB", .hello) { server, _ in
            let path = "/" + String(repeating: "x", count: 50 << 10)
            server[path] = Reply("hello", fields: ["Cache-Control": "max-age=100"])
            return .script(.redirect("Location: \(path)", "Content-Length: 0"))
        },
    ]

    private static let bodies: [HostileCase] = [
        HostileCase(
            "A redirect with a body of 100 MB", .hello,
            .redirect("Location: /target", "Content-Length: 104857600"), .fill(100 << 20)),
        HostileCase(
            "A redirect with a body without end", .hello, .redirect("Location: /target"),
            .again([.fill(1 << 20)], times: nil)),
        HostileCase(
            "A redirect whose body never comes", "", .hello, wait: .second,
            .redirect("Location: /target", "Content-Length: 9"), .hold),
        HostileCase(
            "A redirect whose body is cut short by the end of the connection", .hello,
            .redirect("Location: /target", "Content-Length: 9"), .text("x"), .close),
        HostileCase(
            "A redirect whose body is cut short by a reset", .hello,
            .redirect("Location: /target", "Content-Length: 9"), .text("x"), .reset),
        HostileCase("A redirect with a gzip bomb", .hello) { _, _ in
            .script(
                [.redirect("Location: /target", "Content-Encoding: gzip")]
                    + Compressed.gzip.bomb(gibibytes: 10) + [.close])
        },
    ].map { $0.notStored() }

    // MARK: Answers

    static let answers: [HostileCase] = [challenges, cookies, uploads].flatMap { $0 }

    private static func challenge(_ variant: String, _ lines: String..., status: Int = 401) -> HostileCase {
        let name = status == 401 ? "WWW-Authenticate" : "Proxy-Authenticate"
        let head = (["HTTP/1.1 \(status) No"] + lines.map { "\(name): \($0)" } + ["Content-Length: 5"]).joined(
            separator: "\r\n")
        return HostileCase(
            "A challenge, and no credentials", "\(status), \(variant)",
            .response(status: status, body: Data("hello".utf8)),
            .text(head + "\r\n\r\nhello"))
    }

    private static let challenges: [HostileCase] = [
        challenge("Basic", "Basic realm=\"a\""), challenge("Digest", "Digest realm=\"a\", nonce=\"b\", qop=\"auth\""),
        challenge("no challenge"), challenge("an empty challenge", ""),
        challenge("Digest without a nonce", "Digest realm=\"a\""),
        challenge("an unknown scheme", "Exotic a=b"), challenge("Negotiate and NTLM", "Negotiate", "NTLM"),
        challenge("an open quote", "Basic realm=\"a"),
        challenge("1,000 challenges", String(repeating: "Basic realm=a, ", count: 1_000)),
        challenge("Basic", "Basic realm=\"a\"", status: 407),
    ]

    private static func cookies(_ variant: String, _ lines: [String]) -> HostileCase {
        HostileCase(
            "Odd cookies", variant, .hello, .openHead, .text(lines.map { "Set-Cookie: \($0)\r\n" }.joined()),
            .text("Content-Length: 5\r\n\r\nhello"))
    }

    private static let cookies: [HostileCase] = [
        cookies("3,000 with Expires", (0..<3_000).map { "a\($0)=b; Expires=Wed, 21 Oct 2099 07:28:00 GMT; Path=/" }),
        cookies("emoji", ["a=🎉; Path=/", "🎉=a"]), cookies("decomposed accents", ["a=e\u{301}; Path=/", "e\u{301}=a"]),
        cookies("for other domains", ["a=b; Domain=0.1", "a=b; Domain=1", "a=b; Domain=.", "a=b; Domain=example.com"]),
        cookies("nothing in them", ["", "=", ";", "; ;", "=;=", "a", "=a"]),
        cookies("90 KB in one", ["a=" + String(repeating: "b", count: 90 << 10)]),
        cookies(
            "invalid dates",
            [
                "a=b; Expires=\(String(repeating: "9", count: 1_000))",
                "a=b; Max-Age=-\(String(repeating: "9", count: 100))",
            ]),
        cookies("percent signs", ["a=%00%ff%; Path=/%"]),
    ]

    private static let uploads: [HostileCase] = [
        HostileCase("A `POST` that is answered before its body is read", .hello, method: "POST") { server, path in
            server.answerEarly(at: path)
            return .script(.response(), .close)
        },
        HostileCase(
            "A `POST` whose connection is reset before its body is read", .error(.networkConnectionLost), method: "POST"
        ) { server, path in
            server.answerEarly(at: path)
            return .script(.reset)
        },
        HostileCase("A `POST` that is redirected with 307", .hello, method: "POST") { _, _ in
            .redirect(to: "/target", status: 307)
        },
    ]
}
