import Foundation
import HTTPCaching

/// A value decoded from JSON.
///
/// ```swift
/// let feed = try await synchronizer.load(JSONResource<Feed>(url: url))
/// ```
public struct JSONResource<Value: Decodable & Sendable>: Resource {
    /// Loads with equal method, URL and headers are coalesced.
    public let identity: ResourceIdentity
    /// Seconds for which a response without a lifetime of its own may be used; see ``Resource/cacheTime``.
    public var cacheTime: TimeInterval?
    /// The largest accepted body in bytes; nil for the limit of the configuration.
    public var maximumSize: Int?
    private let decoder: JSONDecoder?

    /// Creates a resource for the value at a URL, requested with `Accept: application/json`.
    ///
    /// - Parameters:
    ///   - url: the URL of the JSON document.
    ///   - decoder: the decoder; by default one without options. Do not change it afterwards: it is used on background
    ///     threads. Resources share a parse only if they have the same decoder object, or the default.
    public init(url: URL, decoder: JSONDecoder? = nil) {
        self.init(request: URLRequest(url: url), decoder: decoder)
    }

    /// Creates a resource for the value at a URL, requested with these headers, and with `Accept: application/json` unless they
    /// have an `Accept`.
    public init(url: URL, headers: [String: String], decoder: JSONDecoder? = nil) {
        self.init(url: url, method: "GET", headers: headers, decoder: decoder)
    }

    /// Creates a resource for the value in the response to a request without a body, with `Accept: application/json` unless the
    /// headers have an `Accept`.
    ///
    /// - Parameters:
    ///   - url: the URL to send to.
    ///   - method: the method, such as `GET` or `DELETE`.
    ///   - headers: headers, such as `Authorization`.
    ///   - decoder: see ``init(url:decoder:)``.
    public init(url: URL, method: String, headers: [String: String] = [:], decoder: JSONDecoder? = nil) {
        self.init(request: URLRequest(url: url, method: method, headers: headers), decoder: decoder)
    }

    /// Creates a resource for the value in the response to a request, with `Accept: application/json` unless it has an `Accept`.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - decoder: see ``init(url:decoder:)``.
    ///   - cacheKey: states that a request with a body only reads, so that its response may be reused. See ``CacheKey``.
    public init(request: URLRequest, decoder: JSONDecoder? = nil, cacheKey: CacheKey? = nil) {
        var request = request
        if request.value(forHTTPHeaderField: FieldName.accept) == nil {
            request.setValue("application/json", forHTTPHeaderField: FieldName.accept)
        }
        identity = ResourceIdentity(request, keyIfAny: cacheKey)
        self.decoder = decoder
    }

    /// Creates a resource for the value in the response to a request with a JSON body, with `Content-Type: application/json`.
    ///
    /// ```swift
    /// let created = try await synchronizer.load(JSONResource<Item>(url: url, body: Draft(title: "New")))
    /// ```
    ///
    /// - Parameters:
    ///   - url: the URL to send to.
    ///   - method: the method, such as `POST`, `PUT`, `PATCH` or `QUERY`.
    ///   - headers: further headers, such as `Authorization`. They replace the headers `Content-Type` and `Accept` if they have
    ///     the same names.
    ///   - body: the value to encode. It is encoded now.
    ///   - encoder: the encoder; by default one that sorts keys, so that equal values give equal bodies.
    ///   - decoder: see ``init(url:decoder:)``.
    ///   - cacheKey: states that the request only reads, so that its response may be reused. See ``CacheKey``.
    /// - Throws: the encoder's error.
    public init<Body: Encodable>(
        url: URL, method: String = "POST", headers: [String: String] = [:], body: Body, encoder: JSONEncoder? = nil,
        decoder: JSONDecoder? = nil, cacheKey: CacheKey? = nil
    ) throws {
        let request = try URLRequest(url: url, method: method, headers: headers, jsonBody: body, encoder: encoder)
        self.init(request: request, decoder: decoder, cacheKey: cacheKey)
    }

    /// The request with which it was created, with an `Accept`.
    public func request() -> URLRequest { identity.request }

    /// Decodes on a background thread; throws the decoder's error, usually a `DecodingError`.
    public var parse: @Sendable (Data) throws -> Value {
        let decoder = decoder ?? JSONDecoder()
        return { try decoder.decode(Value.self, from: $0) }
    }

    /// Identifies the decoder, which may have options.
    public var variant: ResourceVariant {
        decoder.map { ResourceVariant(identity: $0) } ?? .standard
    }
}

extension URLRequest {
    /// A request without a body.
    init(url: URL, method: String, headers: [String: String]) {
        self.init(url: url)
        httpMethod = method
        for (name, value) in headers { setValue(value, forHTTPHeaderField: name) }
    }

    /// A request with a JSON body. The default encoder sorts keys, so that equal values give equal bodies.
    init<Body: Encodable>(
        url: URL, method: String, headers: [String: String], jsonBody body: Body, encoder: JSONEncoder?
    ) throws {
        let sorting = JSONEncoder()
        sorting.outputFormatting = .sortedKeys
        var fields = headers
        let hasType = headers.keys.contains { HTTPFields.same($0, FieldName.contentType) }
        if !hasType { fields[FieldName.contentType] = "application/json" }
        self.init(url: url, method: method, headers: fields)
        httpBody = try (encoder ?? sorting).encode(body)
    }
}
