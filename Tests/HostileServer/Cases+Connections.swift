import ScriptedServer

/// Connections that the server closes, resets or leaves silent, at each point of a response.
extension HostileCase {
    private static let phases: [(String, String)] = [
        ("before the head", ""), ("in the status line", "HTTP/1.1 20"),
        ("after the status line", "HTTP/1.1 200 OK\r\n"),
        ("in a field line", "HTTP/1.1 200 OK\r\nCache-Con"), ("after a field line", "HTTP/1.1 200 OK\r\nA: b\r\n"),
        ("before the empty line ends", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r"),
        ("after the head", "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 5\r\n\r\n"),
        ("in the body", "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nContent-Length: 5\r\n\r\nhel"),
        ("in a chunk size", "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nTransfer-Encoding: chunked\r\n\r\n5"),
        ("in a chunk", "HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
        ("between chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        ("in a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Tra"),
    ]

    static let connections: [HostileCase] = [closes, resets, silences, others].flatMap { $0 }

    private static let closes = phases.map { phase, text in
        HostileCase("Closes the connection", phase, .error(.networkConnectionLost), .text(text), .close)
    }

    private static let resets = phases.map { phase, text in
        HostileCase("Resets the connection", phase, .error(.networkConnectionLost), .text(text), .reset)
    }

    private static let silences = phases.map { phase, text in
        HostileCase("Sends nothing more", phase, .error(.timedOut), wait: .idleTimeout, .text(text), .hold)
    }

    private static let others = [
        HostileCase(
            "Sends a byte a second, forever", "in the body", .error(.timedOut), wait: .loadTimeout, .head(),
            .again([.text("x"), .delay(1)], times: nil)),
        HostileCase(
            "Resets the connection in a body without a length", .error(.networkConnectionLost),
            .head(), .text("hello"), .reset),
        HostileCase("Closes the connection after a body without a length", .hello, .head(), .text("hello"), .close),
    ]
}
