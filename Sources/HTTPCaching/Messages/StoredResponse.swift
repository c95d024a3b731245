/// The parts of a response that a cache stores besides its body (RFC 9111 §3): all that later decisions need.
package struct StoredResponse: Hashable, Sendable {
    /// The target URI of the request: absolute, with its query, without a fragment (RFC 9111 §2).
    package var url: String
    /// The method of the request: `GET`, or `HEAD` for a response without a body.
    package var method: String
    /// The request fields that select the response (RFC 9111 §4.1).
    package var selectingFields: HTTPFields
    package var status: Int
    package var fields: HTTPFields
    /// The times at which the request was sent and the response arrived, by the local clock (RFC 9111 §4.2.3).
    package var requestTime: Date
    package var responseTime: Date
    /// The part of the representation that the body holds; nil if it is the whole (RFC 9111 §3.3).
    package var part: Part?
    /// The `Cache-Control` value that the session's delegate injected; nil if the server's own stands.
    package var injectedCacheControl: String?

    /// Bytes `range` of a representation; `completeLength` is nil if the server did not state it.
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
