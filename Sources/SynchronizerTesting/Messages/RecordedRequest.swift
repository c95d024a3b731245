import Foundation
import HTTPCaching

/// A request that a ``ScriptedServer`` or a ``StubServer`` has received completely.
public struct RecordedRequest: Hashable, Sendable {
    /// The number of the request, from 0. Requests are numbered in the order in which they were complete.
    public let number: Int
    /// The number of its connection, from 0. Equal numbers mean that the connection was kept alive. Always 0 without sockets.
    public let connection: Int
    /// The method, such as `GET`.
    public let method: String
    /// The request target, as it was sent: path and query.
    public let target: String
    /// `HTTP/1.1` or `HTTP/1.0`.
    public let version: String
    /// The field lines in order, including repeated ones.
    public let fields: [FieldLine]
    /// The body, without its framing.
    public let body: Data
    /// The URL that a ``StubServer`` was asked for.
    var stubbedURL: URL?

    /// The URL; nil if the request has no valid `Host`.
    public var url: URL? { stubbedURL ?? fields[FieldName.host].flatMap { URL(string: "http://\($0)\(target)") } }

    /// The value of all lines of that field, joined by `, `; nil if there is none.
    public subscript(field: String) -> String? { fields[field] }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query, without its question mark; nil if there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The value of the first item of that name in the query, percent-decoded.
    public func queryValue(_ name: String) -> String? {
        URLComponents(string: target)?.queryItems?.first { $0.name == name }?.value
    }

    /// Whether the client wants the connection to stay open (RFC 9112 §9.3).
    var wantsKeepAlive: Bool {
        let options = (fields[FieldName.connection] ?? "").lowercased()
        return version == "HTTP/1.0" ? options.contains("keep-alive") : !options.contains("close")
    }
}

extension RecordedRequest: CustomStringConvertible {
    /// The request line.
    public var description: String { "\(method) \(target)" }
}
