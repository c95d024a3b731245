import Foundation
import HTTPCaching
import SynchronizerSupport

/// A response without its body, as an ``EmptyResource`` gives it. A `URLResponse` is created only when a caller reads it: on Linux,
/// creating an `HTTPURLResponse` costs as much as reading 20 KB from the disk.
public struct ResponseHead: Sendable {
    /// The URL of the last request: after redirects, the final target.
    public let url: URL?
    /// The status code; 200 for a response that isn't HTTP, such as that of a `file:` URL.
    public let status: Int
    /// The field lines; none if the response isn't HTTP.
    package let fields: HTTPFields
    /// Whether this is a response of HTTP.
    package let isHTTP: Bool
    private let version: String
    /// The object that this was created from.
    private let original: URLResponse?

    /// The head of a response that Foundation created.
    package init(_ response: URLResponse) {
        let http = response as? HTTPURLResponse
        url = response.url
        status = http?.statusCode ?? 200
        fields = http.map { HTTPFields(of: $0) } ?? HTTPFields()
        isHTTP = http != nil
        version = ""
        original = response
    }

    /// Creates the head of an HTTP response, for tests.
    ///
    /// - Parameters:
    ///   - url: the URL of the request.
    ///   - status: the status code.
    ///   - fields: the headers, by name.
    public init(url: URL, status: Int = 200, fields: [String: String] = [:]) {
        self.init(url: url, status: status, fields: HTTPFields(fields))
    }

    /// - Parameter version: the protocol, as `HTTPURLResponse` takes it.
    package init(url: URL, status: Int, fields: HTTPFields, version: String = "HTTP/1.1") {
        self.url = url
        self.status = status
        self.fields = fields
        self.version = version
        isHTTP = true
        original = nil
    }

    /// The head as a cache passes it on, at that age; the `Age` stays if the age is not known.
    func reused(atAge age: TimeInterval?) -> ResponseHead {
        guard isHTTP, let url else { return self }
        return ResponseHead(
            url: url, status: status, fields: CacheRules.reusedFields(of: fields, atAge: age), version: version)
    }

    /// Whether a final response follows this one (RFC 9110 §15.2). None follows a 101.
    package var isInterim: Bool { (100..<200).contains(status) && status != 101 }

    /// The value of a field, whose name may be in any case; nil if there is none. Several lines are joined by commas.
    public func value(of field: String) -> String? { fields[field] }

    /// The response as a `URLResponse`. Each call creates another one, unless Foundation created the response.
    public var urlResponse: URLResponse {
        if let original { return original }
        let url = url ?? URL(fileURLWithPath: "/")
        return httpResponse ?? URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    /// The same, if it is a response of HTTP.
    package var httpResponse: HTTPURLResponse? {
        if let original { return original as? HTTPURLResponse }
        guard let url else { return nil }
        return .make(url: url, status: status, version: version, fields: fields.dictionary)
    }
}
