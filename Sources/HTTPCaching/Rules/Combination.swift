/// How a part that has arrived and a stored one become one response (RFC 9111 §3.4).
package struct Combination: Hashable, Sendable {
    /// The part that the two make; nil if they make the whole.
    package let part: StoredResponse.Part?
    /// The bytes of the stored body that come before and after those of the new one.
    package let before: Range<Int>
    package let after: Range<Int>

    /// - Returns: nil if the two do not belong together: without the same strong validator, or with a gap between.
    package init?(of candidate: Candidate, with status: Int, _ fields: HTTPFields, bodySize: Int) {
        guard status == 206, let new = Storing.part(of: fields), new.range.count == bodySize, let old = candidate.part,
            candidate.response.status == 206 || candidate.response.status == 200, candidate.isConsistent,
            candidate.response.hasSameStrongValidator(as: fields),
            old.range.lowerBound <= new.range.upperBound, new.range.lowerBound <= old.range.upperBound
        else { return nil }
        let length = new.completeLength ?? old.completeLength
        if let known = old.completeLength, known != length { return nil }
        guard length.map({ old.range.upperBound <= $0 }) ?? true else { return nil }
        let range = min(old.range.lowerBound, new.range.lowerBound)..<max(old.range.upperBound, new.range.upperBound)
        part = range.lowerBound == 0 && range.upperBound == length ? nil : .init(range: range, completeLength: length)
        before = 0..<max(0, new.range.lowerBound - old.range.lowerBound)
        after = min(old.range.count, max(0, new.range.upperBound - old.range.lowerBound))..<old.range.count
    }

    /// The response that the two make: the stored fields, updated with the new ones (§3.2); 200 if it is the whole.
    package func response(
        _ old: StoredResponse, with fields: HTTPFields, bodySize: Int, requestTime: Date, responseTime: Date
    ) -> StoredResponse {
        var combined = Freshening.freshened(old, by: fields, requestTime: requestTime, responseTime: responseTime)
        combined.part = part
        combined.status = part == nil ? 200 : 206
        combined.fields["Content-Range"] = part?.contentRange
        combined.fields["Content-Length"] = String(bodySize)
        return combined
    }
}

extension StoredResponse {
    /// Whether a message with these fields brings bytes of the very same representation: by its entity tag; where neither
    /// has one, by its date (RFC 9110 §8.8).
    package func hasSameStrongValidator(as newer: HTTPFields) -> Bool {
        let (old, new) = (ResponseFacts(fields), ResponseFacts(newer))
        guard !old.hasContentCoding, !new.hasContentCoding else { return false }
        if old.entityTag == nil, new.entityTag == nil {
            return hasStrongDate(old) && old.lastModified == new.lastModified
        }
        guard let oldTag = old.entityTag.flatMap(EntityTag.init), let newTag = new.entityTag.flatMap(EntityTag.init)
        else { return false }
        return oldTag.matchesStrongly(newTag)
    }
}

extension Candidate {
    /// Whether the stored body has the bytes that the stored `Content-Range` counts.
    var isConsistent: Bool {
        response.part.map { Storing.part(of: response.fields)?.range == $0.range } ?? true
    }
}
