import Foundation
import HTTPCaching

/// States that a request with a body, such as a GraphQL query sent by `POST`, only reads. Requests with equal keys read the same
/// data.
///
/// ```swift
/// let query = try JSONResource<Feed>(url: url, body: FeedQuery(first: 20), cacheKey: .body)
/// ```
///
/// Requests with equal method, URL, headers and key are coalesced, and share responses in memory and in the cache. They are
/// safe in the sense of RFC 9110 §9.2.1: they are retried, and invalidate nothing. Never give a key to a request that changes
/// something. A `QUERY` (RFC 10008) has the key ``body`` by default.
///
/// A cache keeps at most 64 responses of one URL. If there are more queries, as at the one URL of a GraphQL server, add a query
/// item with the name of the operation to the URL. See <doc:JSONAndCustomResources>.
public struct CacheKey: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// Nil for ``body``.
    private let name: String?

    /// The key is the body and the headers that describe it, such as `Content-Type` (RFC 10008 §2.7). Bodies are compared byte by
    /// byte. A body stream has no key.
    public static let body = CacheKey(name: nil)

    private init(name: String?) { self.name = name }

    /// Creates a key of your own, such as the name of a query and its variables. Keys must differ if responses may
    /// differ.
    public init(_ name: String) { self.init(name: name) }

    /// Creates a key of your own.
    public init(stringLiteral name: String) { self.init(name: name) }

    /// The headers that describe the body (RFC 9110 §8).
    private static let aboutTheBody = [
        FieldName.contentType, FieldName.contentEncoding, FieldName.contentLanguage, FieldName.contentLocation,
    ]

    /// A digest that identifies the body of a request; nil if it is a stream.
    func digest(of request: URLRequest) -> String? {
        if let name { return SHA256.hexadecimal(Array("name \(name)".utf8)) }
        guard request.httpBodyStream == nil else { return nil }
        let about = Self.aboutTheBody.map { request.value(forHTTPHeaderField: $0) ?? "" }
        return SHA256.hexadecimal(Array("body \(about)".utf8) + (request.httpBody ?? Data()))
    }
}
