/// What to do about a request, given the stored responses (RFC 9111 §4).
package enum CacheDecision: Hashable, Sendable {
    /// Answer with a stored response.
    case reuse(Selection)
    /// Answer with a stored response, and validate it in the background (RFC 5861 §3).
    case reuseWhileRevalidating(Selection, HTTPFields)
    /// Send the request with these fields set; a 304 makes the selected response usable (§4.3).
    case validate(Selection, HTTPFields)
    /// Send the request with these fields set; a 206 completes the selected part from that byte on (§3.3).
    case complete(Selection, HTTPFields, from: Int)
    /// Send the request with these fields set, if any. The fallback may be used if no response arrives (§4.2.4).
    case forward(HTTPFields, fallback: Selection?, Explanation)
    /// Fail: neither a stored response nor the network may be used.
    case refuse(Explanation)
}

/// A response stored for the URI of a request, and the length of its body.
public struct Candidate: Hashable, Sendable {
    /// The response.
    public package(set) var response: StoredResponse
    /// The length of its body, in bytes.
    public package(set) var bodySize: Int

    /// Creates a candidate.
    public init(_ response: StoredResponse, bodySize: Int) {
        self.response = response
        self.response.decide()
        self.bodySize = bodySize
    }
}

/// The stored response selected for a request, and how it answers.
package struct Selection: Hashable, Sendable {
    /// The position of the response among the candidates.
    package let index: Int
    package var freshness: Freshness
    package var answer: Answer
    package var explanation: Explanation

    package enum Answer: Hashable, Sendable {
        /// The response as it is stored.
        case stored
        /// 206 with a part of the representation, which is `bytes` of the stored body (RFC 9110 §15.3.7).
        case part(StoredResponse.Part, bytes: Range<Int>)
        /// 304 to a caller that validates its own copy (§4.3.2).
        case notModified
    }

    /// The head of the answer: the server's fields, with the current `Age`.
    package func head(of response: StoredResponse, validated: Bool = false) -> (status: Int, fields: HTTPFields) {
        var fields = response.serverFields
        if !validated { fields[FieldName.age] = String(freshness.age.wholeSeconds) }
        switch answer {
        case .stored: return (response.status, fields)
        case .notModified:
            fields.remove(FieldName.describingBody)
            return (304, fields)
        case .part(let part, let bytes):
            fields[FieldName.contentRange] = part.contentRange
            fields[FieldName.contentLength] = String(bytes.count)
            // A digest of the stored content is not one of this part (RFC 9530 §2).
            fields.remove(FieldName.digestingContent)
            return (206, fields)
        }
    }
}
