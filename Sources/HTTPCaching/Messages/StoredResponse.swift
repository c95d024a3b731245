/// What a cache keeps of a response beside its body (RFC 9111 §3): enough to judge it again at any later moment.
package struct StoredResponse: Hashable, Sendable {
    /// The target URI that it answers: absolute, with its query, without a fragment (RFC 9111 §2).
    package var url: String
    /// The method that it answers: `GET`, or `HEAD` for a response without a body.
    package var method: String
    /// The request's fields that the response's `Vary` names, as they were sent (RFC 9111 §4.1).
    package var selectingFields: HTTPFields
    package var status: Int
    package var fields: HTTPFields
    /// When the request was sent and when the response arrived, by the local clock (RFC 9111 §4.2.3).
    package var requestTime: Date
    package var responseTime: Date
    /// The part of the representation that the body holds; nil when it is the whole (RFC 9111 §3.3).
    package var part: Part?
    /// The `Cache-Control` value that the session's delegate put in, and that is not the server's.
    package var injectedCacheControl: String?

    /// Bytes `range` of a representation of `completeLength` bytes, where the server told it.
    package struct Part: Hashable, Sendable {
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
