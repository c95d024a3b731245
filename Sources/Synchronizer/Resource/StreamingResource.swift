import Foundation

/// A resource that is parsed while its bytes arrive: a long list of lines, a log, a decoder that takes pieces.
///
/// ```swift
/// struct LineCount: StreamingResource {
///     let url: URL
///     func request() -> URLRequest { URLRequest(url: url) }
///     func makeParser() -> LineCounter { LineCounter() }
/// }
///
/// struct LineCounter: StreamParser {
///     private var lines = 0
///     mutating func parse(_ bytes: Data) { lines += bytes.count { $0 == UInt8(ascii: "\n") } }
///     func finish() -> Int { lines }
/// }
/// ```
///
/// The body is not held in memory: it goes to a file of the cache, or to a temporary file if the cache does not take it. So it
/// may be larger than memory. The limit of the configuration still applies: to allow larger bodies, set
/// ``Resource/maximumSize``.
///
/// Not every load runs a parser. A load that memory answers gets the object of an earlier load, and coalesced loads share the
/// parser of one of them. So everything that the caller needs must be in the object.
///
/// A parser that is slower than the network slows the transfer down. A transfer that is resumed or repeated, and a stored
/// response, get a new parser, which parses from the first byte.
public protocol StreamingResource<ParsedObject>: Resource {
    /// The type of the parser.
    associatedtype Parser: StreamParser<ParsedObject>

    /// Creates the parser of one body.
    func makeParser() -> Parser
}

/// Parses one body from its first byte to its last.
public protocol StreamParser<Object>: Sendable {
    /// The type of the parsed object.
    associatedtype Object: Sendable

    /// Parses the next bytes, of any count, on a background thread. After it has thrown, it is not called any more, and the load
    /// fails with ``SynchronizerError/undecodable(_:_:)`` when the body is complete. Long work should check
    /// ``ParseCancellation``.
    mutating func parse(_ bytes: Data) throws

    /// Returns the object: all bytes have been parsed.
    mutating func finish() throws -> Object
}

extension StreamingResource {
    /// Parses a body that is in memory.
    public var parse: @Sendable (Data) throws -> ParsedObject {
        { data in
            var parser = makeParser()
            try parser.parse(data)
            return try parser.finish()
        }
    }

    /// Parses a whole body.
    func object(from body: StoredBytes) throws -> ParsedObject {
        guard case .file(let file) = body else { return try parse(body.data) }
        var parser = makeParser()
        try file.forEachPiece { piece in
            try ParseCancellation.check()
            try parser.parse(Data(piece))
        }
        return try parser.finish()
    }
}
