import Foundation

/// Assembles the heads and the trailers of one exchange from the header lines that libcurl delivers.
///
/// Pure, and linear in the number of bytes. No input makes it trap. It treats malformed lines as browsers do. But a head is an
/// error if libcurl and this parser would disagree about the end of its body.
///
/// | line | treatment |
/// | --- | --- |
/// | no space after the colon, bare LF, no reason, no space after the status | legal |
/// | whitespace around a value, a value of whitespace only | trimmed; the value is empty |
/// | bytes above 127 | UTF-8 if the whole value is valid UTF-8, otherwise Latin-1 |
/// | CR inside a line | a space (RFC 9112 §2.2) |
/// | NUL | error |
/// | line that begins with whitespace | continues the value before it, joined by one space; ignored after the status line |
/// | no colon, empty name, name that is not a token | ignored |
/// | whitespace before the colon | trimmed; an error for `Content-Length` and `Transfer-Encoding` |
/// | continued `Content-Length` or `Transfer-Encoding` | error: libcurl reads only the first line |
/// | status that is not three digits from 100 to 999, version other than 1.x, 2 or 3 | error |
/// | 101 | error: no request asks for an upgrade |
/// | equal values of `Content-Length`, in one line or several | one line with that value |
/// | different, empty, signed or non-numeric `Content-Length`, or one beyond 2^63 - 1 | error (RFC 9112 §6.3) |
/// | a transfer coding that is not a token, or `chunked` with parameters | error (RFC 9112 §7) |
/// | `Content-Length` beside `Transfer-Encoding` | `Content-Length` is removed (RFC 9112 §6.3) |
/// | different `Location` lines in a 3xx | error: clients differ in which one they use |
/// | more than 256 KB in all heads and trailers of an exchange, more than 64 interim heads | error |
///
/// libcurl itself (7.88) fails the transfer before this parser sees a line without a colon, a NUL, a line of more than
/// 100 KB, a trailer line of more than 4 KB in chunks, a continuation line after the status line, or a status or version that it
/// does not know.
struct HeadParser: Sendable {
    /// The head that a line completed.
    enum Event: Sendable, Hashable {
        /// The head of an interim (1xx) response.
        case interim(CurlResponseHead)
        /// The head of the final response. The lines after it are trailers.
        case final(CurlResponseHead)
    }

    private enum Place { case statusLine, fields, trailers }

    private let url: URL
    private var place = Place.statusLine
    private var status = StatusLine(version: "", status: 0)
    private var fields = FieldLines()
    private var byteCount = 0
    private var interimHeads = 0

    /// Creates a parser for one exchange.
    /// - Parameter url: The URL of the request, which each head gets.
    init(url: URL) {
        self.url = url
    }

    /// Whether the head of the final response is complete. A transfer that ends earlier was truncated, whatever libcurl reports.
    var isComplete: Bool { place == .trailers }

    /// The trailer fields so far. They are complete when the transfer is complete.
    var trailers: [CurlResponseHead.Field] {
        guard isComplete else { return [] }
        var fields = fields
        return fields.take()
    }

    /// Takes one line, with or without its line end. An empty line ends a head.
    mutating func append(_ line: UnsafeRawBufferPointer) throws(HeadError) -> Event? {
        byteCount += line.count
        guard byteCount <= HeadError.maximumBytes else { throw .tooLarge }
        let content = Self.content(of: line)
        switch place {
        case .statusLine:
            status = try StatusLine(content)
            place = .fields
            return nil
        case .fields where content.isEmpty:
            return try endHead()
        case .fields, .trailers:
            if !content.isEmpty { try fields.append(content) }
            return nil
        }
    }

    private mutating func endHead() throws(HeadError) -> Event {
        var head = CurlResponseHead(url: url, version: status.version, status: status.status, fields: fields.take())
        guard head.status >= 200 else {
            interimHeads += 1
            guard interimHeads <= HeadError.maximumInterimHeads else { throw .tooManyInterimHeads }
            place = .statusLine
            return .interim(head)
        }
        try BodyLength.settle(&head.fields)
        guard !(300..<400).contains(head.status) || !Self.leadsToSeveralPlaces(head) else { throw .ambiguousLocation }
        place = .trailers
        return .final(head)
    }

    private static func leadsToSeveralPlaces(_ head: CurlResponseHead) -> Bool {
        guard let first = head.fields.first(where: { $0.isNamed(FieldName.location) }) else { return false }
        return head.fields.contains { $0.isNamed(FieldName.location) && $0.value != first.value }
    }

    /// The line without its end.
    static func content(of line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<end])
    }
}
