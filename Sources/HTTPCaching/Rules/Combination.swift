/// How a new part from the server and a stored part combine into one response (RFC 9111 §3.4).
package struct Combination: Hashable, Sendable {
    /// The combined part; nil if it is the whole representation.
    package let part: StoredResponse.Part?
    /// The bytes of the stored body that come before and after the new part.
    package let before: Range<Int>
    package let after: Range<Int>

    /// Nil if the parts do not combine: they have no common strong validator, there is a gap between them, or the headers
    /// contradict each other or the lengths of the bodies.
    init?(of candidate: Candidate, with status: Int, fields: HTTPFields, bodySize: Int) {
        guard status == 206, let new = CacheRules.part(of: fields), new.range.count == bodySize,
            let old = candidate.part,
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

    /// The combined response: the stored fields, updated with the new ones (§3.2); status 200 if it has the whole representation.
    package func response(
        from old: StoredResponse, with fields: HTTPFields, bodySize: Int, requestTime: Date, responseTime: Date
    ) -> StoredResponse {
        var combined = CacheRules.freshened(old, by: fields, requestTime: requestTime, responseTime: responseTime)
        combined.part = part
        combined.status = part == nil ? 200 : 206
        combined.fields[FieldName.contentRange] = part?.contentRange
        combined.fields[FieldName.contentLength] = String(bodySize)
        // A digest of one part's content is not one of the combined content.
        combined.fields.remove(FieldName.digestingContent)
        return combined
    }
}

extension StoredResponse {
    /// Makes a part that is the whole representation a 200, which also answers requests without a range (RFC 9111 §3.4). A range
    /// of a coded representation counts coded bytes, so such a part stays one.
    package mutating func becomeWhole() {
        guard let range = part?.range, range.lowerBound == 0, range.upperBound == part?.completeLength,
            CacheRules.part(of: fields)?.range == range, !ResponseFacts(fields).hasContentCoding
        else { return }
        (part, status) = (nil, 200)
        fields[FieldName.contentRange] = nil
        fields[FieldName.contentLength] = String(range.count)
    }

    /// Whether a validator identifies its bytes: a strong entity tag, or a strong date if it has no entity tag (RFC 9110 §8.8,
    /// §13.1.5).
    package var hasStrongValidator: Bool {
        let facts = ResponseFacts(fields)
        guard let tag = facts.entityTag else { return hasStrongDate(facts) }
        return EntityTag(tag)?.isStrong == true
    }

    /// Whether a message with these fields has bytes of the same representation: by entity tag, or by date if neither has an
    /// entity tag (RFC 9110 §8.8).
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
    /// Whether the stored `Content-Range` describes the stored body.
    var isConsistent: Bool {
        response.part.map { CacheRules.part(of: response.fields)?.range == $0.range } ?? true
    }
}

extension CacheRules {
    /// How the part in a new response and a stored part combine; nil if they do not.
    package static func combination(
        of candidate: Candidate, with status: Int, fields: HTTPFields, bodySize: Int
    ) -> Combination? {
        Combination(of: candidate, with: status, fields: fields, bodySize: bodySize)
    }
}
