import Foundation
import HTTPCaching

/// The server's reply to a request: correct, or with a fault.
///
/// ```swift
/// Reply("hello", fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""]).chunked(2, 3)
/// Reply(photograph).failing(.reset(.afterBody(1_000)))
/// ```
///
/// The server adds only the framing fields (`Content-Length` or `Transfer-Encoding`, unless they are given) and
/// `Connection: close` where it applies. There is no `Date` unless a test adds one.
public struct Reply: Sendable {
    /// The status code.
    public var status: Int
    /// The reason phrase; nil for the usual one.
    public var reason: String?
    /// The field lines in order, including repeated ones.
    public var fields: [FieldLine]
    /// The content. It is not sent in answer to `HEAD`, nor with 204 and 304.
    public var body: Data
    /// How the client knows where the body ends.
    public var framing = Framing.contentLength
    /// Whether the connection is closed afterwards, as `Connection: close` will say.
    public var closesConnection = false
    /// Whether `If-None-Match` and `If-Modified-Since` that match the fields are answered with 304.
    public var answersConditions = false
    /// Whether `Range` and `If-Range` are answered with 206 and 416.
    public var answersRanges = false
    /// Seconds to wait before the head, besides the server's own latency.
    public var latency: TimeInterval = 0
    /// The gates at which the reply waits.
    public var gates: [GatedMoment] = []
    /// The fault.
    public var fault: Fault?
    /// If it is not nil, these pieces are sent exactly as they are, instead of everything else.
    public var script: [Piece]?

    /// Creates a reply with a body.
    public init(_ body: Data, status: Int = 200, fields: KeyValuePairs<String, String> = [:]) {
        self.status = status
        self.fields = fields.map { FieldLine(name: $0.key, value: $0.value) }
        self.body = body
    }

    /// Creates a reply with a text as its body, in UTF-8.
    public init(_ text: String = "", status: Int = 200, fields: KeyValuePairs<String, String> = [:]) {
        self.init(Data(text.utf8), status: status, fields: fields)
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> Reply {
        Reply(status: status, fields: [FieldName.location: location])
    }

    /// Text that is sent exactly as it is, in UTF-8, before the connection is closed.
    public static func raw(_ text: String) -> Reply { script(.text(text), .close) }

    /// Pieces that are sent exactly as they are. The connection stays open unless a piece ends it.
    public static func script(_ pieces: Piece...) -> Reply { script(pieces) }

    /// Pieces that are sent exactly as they are. The connection stays open unless a piece ends it.
    public static func script(_ pieces: [Piece]) -> Reply {
        var reply = Reply()
        reply.script = pieces
        return reply
    }
}

extension Reply {
    /// How the client knows where the body ends (RFC 9112 §6).
    public enum Framing: Hashable, Sendable {
        /// By `Content-Length`.
        case contentLength
        /// By chunks of these sizes in order. The last size is used for the rest. Without sizes there is one chunk.
        case chunked([Int])
        /// By the end of the connection.
        case untilClose
        /// As the reply's own fields say; none is added.
        case asFieldsSay
    }

    /// A place in the course of a reply.
    public enum Moment: Hashable, Sendable {
        /// The request has been received, and nothing has been sent.
        case beforeHead
        /// Half of the head's bytes have been sent.
        case midHead
        /// The head has been sent, and nothing of the body.
        case afterHead
        /// This many bytes of the content have been sent, or all if there are fewer. Chunks that end there are complete.
        case afterBody(Int)
    }

    /// A gate, and the moment at which the reply waits for it.
    public struct GatedMoment: Sendable {
        /// Where the reply waits.
        public var moment: Moment
        /// What it waits for.
        public var gate: Gate
    }
}

extension Reply {
    /// The same reply, in chunks of these sizes; the last is used for the rest.
    public func chunked(_ sizes: Int...) -> Reply { changed { $0.framing = .chunked(sizes) } }

    /// The same reply, whose body ends with the connection.
    public func untilClose() -> Reply { changed { $0.framing = .untilClose } }

    /// The same reply, after which the connection is closed.
    public func closing() -> Reply { changed { $0.closesConnection = true } }

    /// The same reply, with another field line at the end.
    public func adding(_ name: String, value: String) -> Reply {
        changed { $0.fields.append(FieldLine(name: name, value: value)) }
    }

    /// The same reply, with another field line at the end whose value is a date (RFC 9110 §5.6.7), such as `Expires`.
    public func adding(_ name: String, date: Date) -> Reply { adding(name, value: HTTPDate.format(date)) }

    /// The old name of ``adding(_:value:)``.
    @available(*, deprecated, renamed: "adding(_:value:)")
    public func adding(_ name: String, _ value: String) -> Reply { adding(name, value: value) }

    /// The old name of ``adding(_:date:)``.
    @available(*, deprecated, renamed: "adding(_:date:)")
    public func adding(_ name: String, _ date: Date) -> Reply { adding(name, date: date) }

    /// The same reply, or a 304 without body where the request's validators match.
    public func conditional() -> Reply { changed { $0.answersConditions = true } }

    /// The same reply, or the part of it that the request's `Range` names.
    public func ranged() -> Reply { changed { $0.answersRanges = true } }

    /// The same reply, which waits at a moment until a gate is opened.
    public func waiting(for gate: Gate, _ moment: Moment = .beforeHead) -> Reply {
        changed { $0.gates.append(GatedMoment(moment: moment, gate: gate)) }
    }

    /// The same reply, with a fault.
    public func failing(_ fault: Fault) -> Reply { changed { $0.fault = fault } }

    /// The same reply, this many seconds later. For demonstrations and benchmarks; tests use gates.
    public func delayed(by seconds: TimeInterval) -> Reply { changed { $0.latency = seconds } }

    private func changed(_ change: (inout Reply) -> Void) -> Reply {
        var copy = self
        change(&copy)
        return copy
    }
}
