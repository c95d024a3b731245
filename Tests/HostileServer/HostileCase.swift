import Foundation
import ScriptedServer

/// A behaviour of a server, and the result for its client. `Documentation/Linux.md` shows all cases in a table.
public struct HostileCase: Sendable, CustomStringConvertible {
    /// The result of a load.
    public enum Outcome: Hashable, Sendable {
        /// A complete response.
        case response(status: Int, body: Data)
        /// A failure.
        case error(URLError.Code)
        /// More than the client accepts. A session without a limit receives the body until it cancels.
        case tooLarge

        /// A response of status 200 with a short text.
        public static func text(_ text: String) -> Outcome { .response(status: 200, body: Data(text.utf8)) }
        /// The response that most cases have.
        public static let hello = text("hello")
    }

    /// The event that ends the load.
    public enum Wait: String, Sendable {
        /// The arrival of the bytes that decide.
        case nothing = "at once"
        /// The time limit for a redirect's body.
        case second = "after a second"
        /// The time-out for an idle connection.
        case idleTimeout = "after `timeoutInterval`"
        /// The limit for the whole load.
        case loadTimeout = "after `timeoutForLoad`"
    }

    /// The behaviour: a row of the table.
    public let row: String
    /// The case within the row.
    public let variant: String
    /// The result of `Synchronizer`, with a limit of ``maximumResponseSize``.
    public let outcome: Outcome
    /// The result of a session, which has no such limit.
    public let sessionOutcome: Outcome
    /// How long it takes.
    public let wait: Wait
    /// Whether the response is stored. If not, the previous entry remains.
    public private(set) var isStored: Bool
    /// The method of the request. A `POST` has a body of 8 MB.
    public let method: String
    /// The server's reply at a path.
    public let reply: @Sendable (ScriptedServer, _ path: String) -> Reply

    /// The limit in the table.
    public static let maximumResponseSize = 1 << 20

    init(
        _ row: String, _ variant: String, _ outcome: Outcome, session: Outcome? = nil, wait: Wait = .nothing,
        method: String = "GET", reply: @escaping @Sendable (ScriptedServer, String) -> Reply
    ) {
        (self.row, self.variant, self.outcome, self.wait) = (row, variant, outcome, wait)
        (self.method, self.reply) = (method, reply)
        sessionOutcome = session ?? outcome
        if case .response(status: 200..<300, _) = outcome { isStored = method == "GET" } else { isStored = false }
    }

    init(
        _ row: String, _ variant: String, _ outcome: Outcome, wait: Wait = .nothing, method: String = "GET",
        _ pieces: Reply.Piece...
    ) {
        self.init(row, variant, outcome, wait: wait, method: method) { _, _ in .script(pieces) }
    }

    init(
        _ row: String, _ outcome: Outcome, session: Outcome? = nil, method: String = "GET",
        reply: @escaping @Sendable (ScriptedServer, String) -> Reply
    ) {
        self.init(row, "", outcome, session: session, method: method, reply: reply)
    }

    init(
        _ row: String, _ outcome: Outcome, session: Outcome? = nil, method: String = "GET", _ pieces: Reply.Piece...
    ) {
        self.init(row, "", outcome, session: session, method: method) { _, _ in .script(pieces) }
    }

    /// The same, which is not stored although it is complete.
    func notStored() -> HostileCase { stored(false) }

    /// The same, which is stored or not, whatever its status says.
    func stored(_ isStored: Bool) -> HostileCase {
        var copy = self
        copy.isStored = isStored
        return copy
    }

    public var description: String { variant.isEmpty ? row : "\(row): \(variant)" }
}

extension HostileCase {
    /// All cases, in the order of the table.
    public static let all: [HostileCase] = [
        connections, heads, statusLines, lengths, chunks, codings, redirects, answers, oddMessages, oddAnswers,
    ].flatMap { $0 }

    /// Makes a server reply with this case at a path, and with a short text at `/target`, where redirects lead.
    public func install(on server: ScriptedServer, at path: String) {
        server[path] = reply(server, path)
        server["/target"] = Reply("hello", fields: ["Cache-Control": "max-age=100"])
    }
}

extension Reply.Piece {
    /// The head of a response that may be stored, with these lines and the empty one that ends it.
    static func head(_ lines: String..., status: String = "HTTP/1.1 200 OK") -> Reply.Piece {
        .text(([status, "Cache-Control: max-age=100"] + lines).joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// The head of a redirect, with these lines and the empty one that ends it.
    static func redirect(_ lines: String...) -> Reply.Piece {
        .text((["HTTP/1.1 302 Found", "Cache-Control: max-age=100"] + lines).joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// The start of that head: one or more lines are to follow.
    static let openHead = text("HTTP/1.1 200 OK\r\nCache-Control: max-age=100\r\n")

    /// A response whose body is complete.
    static func response(_ lines: String..., status: String = "HTTP/1.1 200 OK", body: String = "hello") -> Reply.Piece
    {
        .text(
            ([status, "Cache-Control: max-age=100", "Content-Length: \(body.utf8.count)"] + lines)
                .joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    /// So many bytes, a multiple of 16 KiB, which are generated as they are sent.
    static func fill(_ count: Int) -> Reply.Piece { .again([block], times: count / (16 << 10)) }

    /// Leaves the connection open for the next request.
    static let nothing = again([], times: 0)

    /// 16 KiB.
    static let block = bytes(Data(repeating: UInt8(ascii: "x"), count: 16 << 10))
}
