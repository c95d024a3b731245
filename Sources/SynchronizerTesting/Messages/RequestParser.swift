import Foundation
import HTTPCaching

/// Turns incoming bytes into complete requests (RFC 9112). Pure.
struct RequestParser {
    struct Request: Equatable {
        var method: String
        var target: String
        var version: String
        var fields: [FieldLine]
        var body = Data()
    }

    enum Result: Equatable {
        /// More bytes are needed.
        case incomplete
        /// The client waits for a 100 (Continue) before it sends its body (RFC 9110 §10.1.1).
        case expectsContinue
        case request(Request)
        /// The request is malformed or too large. The server refuses it with this status.
        case refused(status: Int)
    }

    static let largestHead = 64 << 10
    static let largestBody = 64 << 20

    private enum State {
        case head
        case body(Request, remaining: Int)
        case chunks(Request, ChunkDecoder)
        case refused(Int)
        /// The request was answered before its body arrived. The rest of the body is ignored.
        case ignoring
    }

    private var buffer: [UInt8] = []
    private var consumed = 0
    private var scanned = 0
    private var state = State.head

    /// The number of unparsed bytes. The connection limits it, because a client may send ahead without end.
    var backlog: Int { buffer.count - consumed }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if consumed > 0 {
            buffer.removeFirst(consumed)
            scanned -= consumed
            consumed = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next request, if it has arrived. Call it until it returns `.incomplete`.
    mutating func next(answersEarly: (String) -> Bool = { _ in false }) -> Result {
        switch state {
        case .head: return parseHead(answersEarly)
        case .ignoring:
            consumed = buffer.count
            scanned = consumed
            return .incomplete
        case .body(let request, let remaining): return parseBody(request, remaining: remaining)
        case .chunks(let request, let decoder): return parseChunks(request, decoder: decoder)
        case .refused(let status): return .refused(status: status)
        }
    }

    private mutating func parseHead(_ answersEarly: (String) -> Bool) -> Result {
        skipLineBreaks()
        guard let end = endOfHead() else {
            return backlog > Self.largestHead ? refuse(431) : .incomplete
        }
        let head = buffer[consumed..<end]
        guard head.count <= Self.largestHead else { return refuse(431) }
        consumed = end
        scanned = end
        guard let request = Self.request(from: head) else { return refuse(400) }
        guard !answersEarly(request.target) else {
            state = .ignoring
            return .request(request)
        }
        return beginBody(of: request)
    }

    /// Empty lines before a request are ignored (RFC 9112 §2.2).
    private mutating func skipLineBreaks() {
        while consumed < buffer.count, buffer[consumed] == .carriageReturn || buffer[consumed] == .lineFeed {
            consumed += 1
        }
        scanned = max(scanned, consumed)
    }

    /// The index after the empty line that ends the head. No byte is searched twice.
    private mutating func endOfHead() -> Int? {
        var index = scanned
        while let feed = buffer[index...].firstIndex(of: .lineFeed) {
            let next = feed + 1
            if next < buffer.count, buffer[next] == .lineFeed { return next + 1 }
            if next + 1 < buffer.count, buffer[next] == .carriageReturn, buffer[next + 1] == .lineFeed {
                return next + 2
            }
            index = next
        }
        scanned = max(consumed, buffer.count - 3)
        return nil
    }

    private mutating func beginBody(of request: Request) -> Result {
        if let coding = request.fields[FieldName.transferEncoding] {
            guard coding.lowercased() == "chunked" else { return refuse(501) }
            state = .chunks(request, ChunkDecoder(largestBody: Self.largestBody))
        } else if let length = request.fields[FieldName.contentLength] {
            guard let count = Int(length), count >= 0 else { return refuse(400) }
            guard count <= Self.largestBody else { return refuse(413) }
            state = .body(request, remaining: count)
        } else {
            return .request(request)
        }
        let waits = request.fields[FieldName.expect]?.lowercased() == "100-continue" && backlog == 0
        return waits ? .expectsContinue : next()
    }

    private mutating func parseBody(_ request: Request, remaining: Int) -> Result {
        var request = request
        let taken = min(remaining, backlog)
        request.body.append(contentsOf: buffer[consumed..<consumed + taken])
        consumed += taken
        scanned = consumed
        state = taken == remaining ? .head : .body(request, remaining: remaining - taken)
        return taken == remaining ? .request(request) : .incomplete
    }

    private mutating func parseChunks(_ request: Request, decoder: ChunkDecoder) -> Result {
        var request = request
        var decoder = decoder
        let progress = decoder.take(buffer[consumed...], into: &request.body)
        consumed += progress.taken
        scanned = consumed
        guard !progress.failed else { return refuse(400) }
        guard request.body.count <= Self.largestBody else { return refuse(413) }
        state = decoder.isComplete ? .head : .chunks(request, decoder)
        return decoder.isComplete ? .request(request) : .incomplete
    }

    private mutating func refuse(_ status: Int) -> Result {
        state = .refused(status)
        return .refused(status: status)
    }

    private static func request(from head: ArraySlice<UInt8>) -> Request? {
        var lines = head.split(separator: .lineFeed, omittingEmptySubsequences: false).map { line in
            line.last == .carriageReturn ? line.dropLast() : line
        }
        let start = lines.removeFirst().split(separator: .space).map { String(decoding: $0, as: UTF8.self) }
        guard start.count == 3, start[2].hasPrefix("HTTP/1.") else { return nil }
        var request = Request(method: start[0], target: start[1], version: start[2], fields: [])
        for line in lines where !line.isEmpty {
            guard let colon = line.firstIndex(of: .colon), colon > line.startIndex else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
            request.fields.append(FieldLine(name: name, value: value.trimmingCharacters(in: .whitespaces)))
        }
        return request
    }
}

extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let colon = UInt8(ascii: ":")
}
