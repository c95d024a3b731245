import Foundation
import HTTPCaching

extension Reply {
    /// The reply that this request gets: a 304 or a part, if the request asks for one and the reply supports that.
    func applied(to request: RecordedRequest) -> Reply {
        guard script == nil, status == 200 else { return self }
        let isGET = request.method == "GET" || request.method == "HEAD"
        // RFC 10008 §2.6
        if answersConditions, isGET || request.method == "QUERY", isUnmodified(for: request) { return notModified }
        if answersRanges, isGET { return part(for: request) }
        return self
    }

    /// RFC 9110 §13.2.2: if the request has entity tags, they alone decide.
    private func isUnmodified(for request: RecordedRequest) -> Bool {
        if let tags = request[FieldName.ifNoneMatch] {
            guard let own = fields[FieldName.entityTag] else { return false }
            let candidates = tags.split(separator: ",").map { Self.opaque($0.trimmingCharacters(in: .whitespaces)) }
            return candidates.contains("*") || candidates.contains(Self.opaque(own))
        }
        guard let since = request[FieldName.ifModifiedSince], let modified = fields[FieldName.lastModified] else {
            return false
        }
        guard let since = HTTPDate.parse(since, at: Date()), let modified = HTTPDate.parse(modified, at: Date()) else {
            return false
        }
        return modified <= since
    }

    /// The part of an entity tag that the weak comparison compares (RFC 9110 §8.8.3.2).
    private static func opaque(_ tag: String) -> String {
        tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag
    }

    private var notModified: Reply {
        var reply = self
        reply.status = 304
        reply.reason = nil
        reply.fields = fields.without(
            FieldName.contentType, FieldName.contentLength, FieldName.contentEncoding, FieldName.transferEncoding)
        reply.body = Data()
        return reply
    }

    /// The part for one range (RFC 9110 §14.2). A request for several ranges gets the whole body, as the RFC allows.
    private func part(for request: RecordedRequest) -> Reply {
        var reply = adding(FieldName.acceptRanges, value: "bytes")
        guard let header = request[FieldName.range], ifRangeHolds(for: request),
            let wanted = RequestedRange(header)
        else { return reply }
        if let range = wanted.resolved(in: body.count) {
            reply.status = 206
            reply.fields.append(
                FieldLine(
                    name: FieldName.contentRange,
                    value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"))
            reply.body = body.dropFirst(range.lowerBound).prefix(range.count)
        } else {
            reply.status = 416
            reply.fields.append(FieldLine(name: FieldName.contentRange, value: "bytes */\(body.count)"))
            reply.body = Data()
        }
        reply.reason = nil
        return reply
    }

    /// RFC 9110 §13.1.5: the strong comparison of entity tags, or exactly the same date.
    private func ifRangeHolds(for request: RecordedRequest) -> Bool {
        guard let validator = request[FieldName.ifRange] else { return true }
        if validator.hasPrefix("W/") { return false }
        return validator == fields[validator.hasPrefix("\"") ? FieldName.entityTag : FieldName.lastModified]
    }
}

/// A single byte range, as `Range` names it.
private struct RequestedRange {
    private let first: Int?
    private let last: Int?

    /// Nil unless the header has exactly one well-formed range.
    init?(_ header: String) {
        guard header.hasPrefix("bytes="), !header.contains(",") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        (first, last) = (Int(ends[0]), Int(ends[1]))
        guard first != nil || ends[0].isEmpty, last != nil || ends[1].isEmpty, first != nil || last != nil
        else { return nil }
        if let first, let last, last < first { return nil }
    }

    /// The range in a body of `count` bytes; nil if the body has no such bytes.
    func resolved(in count: Int) -> Range<Int>? {
        guard let first else {
            guard let last, last > 0, count > 0 else { return nil }
            return max(0, count - last)..<count
        }
        guard first < count else { return nil }
        return first..<min(count - 1, last ?? count - 1) + 1
    }
}
