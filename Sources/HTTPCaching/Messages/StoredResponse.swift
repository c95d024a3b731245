/// A stored response without its body: all that later decisions need (RFC 9111 §3).
///
/// ``HTTPCache/storing(_:fields:answering:among:requestTime:responseTime:)`` creates it. Encode it to keep it on a disk.
/// Only this package changes its properties.
public struct StoredResponse: Hashable, Sendable, Codable {
    /// The target URI of the request: absolute, with its query, without a fragment (RFC 9111 §2).
    public package(set) var url: String
    /// The method of the requests that the response answers: `GET`; `HEAD` for a response without a body; or `QUERY` or `POST` for
    /// a response that is reused for the same request body.
    public package(set) var method: String
    /// The request fields that select the response (RFC 9111 §4.1). Credentials are digests.
    public package(set) var selectingFields: HTTPFields
    /// The status code.
    public package(set) var status: Int { didSet { decision = Decision() } }
    /// The fields, without those that belong to the connection (RFC 9111 §3.1).
    public package(set) var fields: HTTPFields { didSet { decision = Decision() } }
    /// The time at which the request was sent, by the local clock (RFC 9111 §4.2.3).
    public package(set) var requestTime: Date { didSet { decision = Decision() } }
    /// The time at which the response arrived, by the local clock (RFC 9111 §4.2.3).
    public package(set) var responseTime: Date { didSet { decision = Decision() } }
    /// The part of the representation that the body holds; nil if it is the whole (RFC 9111 §3.3).
    package var part: Part?
    /// The `Cache-Control` value that the session's delegate injected; nil if it injected none.
    package var injectedCacheControl: String? { didSet { decision = Decision() } }
    private var decision = Decision()

    /// Identifies the bodies of the requests that the response answers; nil if they have none.
    package var bodyKey: String? { selectingFields[FieldName.bodyKey] }

    /// The facts that decide whether the response may be used.
    package var facts: StoredFacts { decision.facts ?? StoredFacts(deciding: self) }

    /// Computes ``facts`` once, for a caller that needs them several times.
    package mutating func decide() {
        if decision.facts == nil { decision.facts = StoredFacts(deciding: self) }
    }

    /// Sets ``facts``, whatever the fields say. They apply until the response's status, fields, times or injected
    /// `Cache-Control` change.
    package mutating func decide(by facts: StoredFacts) { decision.facts = facts }

    /// Bytes `range` of a representation; `completeLength` is nil if the server did not state it.
    package struct Part: Hashable, Sendable, Codable {
        package var range: Range<Int>
        package var completeLength: Int?

        package init(range: Range<Int>, completeLength: Int?) {
            self.range = range
            self.completeLength = completeLength
        }
    }

    package init(
        url: String, method: String, selectingFields: HTTPFields, status: Int, fields: HTTPFields,
        requestTime: Date, responseTime: Date, part: Part? = nil, injectedCacheControl: String? = nil
    ) {
        self.url = url
        self.method = method
        self.selectingFields = selectingFields
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.part = part
        self.injectedCacheControl = injectedCacheControl
    }
}

extension StoredResponse {
    /// The facts, if they have been computed. They follow from the rest of the response, so they are neither compared nor
    /// encoded.
    private struct Decision: Hashable {
        var facts: StoredFacts?

        static func == (one: Decision, other: Decision) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    private enum CodingKeys: CodingKey {
        case url, method, selectingFields, status, fields, requestTime, responseTime, part, injectedCacheControl
    }
}
