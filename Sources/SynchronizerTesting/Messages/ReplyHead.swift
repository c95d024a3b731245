import Foundation
import HTTPCaching

/// The status line and the field lines of a reply.
struct ReplyHead {
    let bytes: Data

    init(_ reply: Reply, to request: RecordedRequest, closes: Bool) {
        var text = "HTTP/1.1 \(reply.status) \(reply.reason ?? Self.usualReason(for: reply.status))\r\n"
        for line in reply.fields + Self.framingFields(of: reply, to: request) {
            text += "\(line.name): \(line.value)\r\n"
        }
        if closes, !reply.fields.contains(FieldName.connection) { text += "\(FieldName.connection): close\r\n" }
        var bytes = Data(text.utf8)
        if case .garbageField(let garbage) = reply.fault { bytes += garbage.line }
        self.bytes = bytes + Data("\r\n".utf8)
    }

    /// RFC 9112 §6.3: such replies have no body, whatever their fields say.
    static func isBodiless(_ reply: Reply, to request: RecordedRequest) -> Bool {
        request.method == "HEAD" || reply.status == 204 || reply.status == 304 || (100..<200).contains(reply.status)
    }

    /// The framing that is used. Some faults need another one than the reply's.
    static func framing(of reply: Reply) -> Reply.Framing {
        switch (reply.fault, reply.framing) {
        case (.badChunkSize, .contentLength), (.missingChunkEnd, .contentLength), (.missingLastChunk, .contentLength):
            return .chunked([])
        case (.endlessBody, .contentLength): return .untilClose
        case (_, let framing): return framing
        }
    }

    static func framingFields(of reply: Reply, to request: RecordedRequest) -> [FieldLine] {
        if reply.status == 204 || reply.status == 304 || (100..<200).contains(reply.status) { return [] }
        if reply.fields.contains(FieldName.contentLength) || reply.fields.contains(FieldName.transferEncoding) {
            return []
        }
        switch framing(of: reply) {
        case .chunked: return [FieldLine(name: FieldName.transferEncoding, value: "chunked")]
        case .untilClose, .asFieldsSay: return []
        case .contentLength:
            if case .contentLength(let length) = reply.fault {
                return [FieldLine(name: FieldName.contentLength, value: "\(length)")]
            }
            return [FieldLine(name: FieldName.contentLength, value: "\(reply.body.count)")]
        }
    }

    private static func usualReason(for status: Int) -> String {
        reasons[status] ?? "Status"
    }

    private static let reasons = [
        100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted",
        203: "Non-Authoritative Information", 204: "No Content", 206: "Partial Content", 300: "Multiple Choices",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 410: "Gone", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 416: "Range Not Satisfiable", 421: "Misdirected Request",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
