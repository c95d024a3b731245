/// What to do about a request, given what is stored (RFC 9111 §4).
package enum Verdict: Hashable, Sendable {
    /// Answer from the store.
    case reuse(Selection)
    /// Answer from the store, and validate in the background (RFC 5861 §3).
    case reuseWhileRevalidating(Selection, HTTPFields)
    /// Send the request with these fields set; a 304 makes the selected response usable (§4.3).
    case validate(Selection, HTTPFields)
    /// Send the request with these fields set; a 206 completes the selected part from that byte on (§3.3).
    case complete(Selection, HTTPFields, from: Int)
    /// Send the request with these fields set, if any. The selection is what may serve if no answer comes (§4.2.4).
    case forward(HTTPFields, fallback: Selection?, Explanation)
    /// Neither the store nor the network may answer.
    case refuse(Explanation)
}

/// A response that could be stored for a URI, and the length of its body.
package struct Candidate: Hashable, Sendable {
    package var response: StoredResponse
    package var bodySize: Int

    package init(_ response: StoredResponse, bodySize: Int) {
        self.response = response
        self.bodySize = bodySize
    }
}

/// A stored response that was selected for a request, and how it answers.
package struct Selection: Hashable, Sendable {
    /// Its place among the candidates.
    package let index: Int
    package let freshness: Freshness
    package var answer: Answer
    package var explanation: Explanation

    package enum Answer: Hashable, Sendable {
        /// The response as it is stored.
        case stored
        /// 206 with a part of the representation, which is `bytes` of the stored body (RFC 9110 §15.3.7).
        case part(StoredResponse.Part, bytes: Range<Int>)
        /// 304 to a caller that validates a response of its own (§4.3.2).
        case notModified
    }
}
