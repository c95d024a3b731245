import Foundation

/// The head of a response whose body is empty or does not matter: that of a `HEAD`, or of a `DELETE`.
///
/// ```swift
/// let head = try await synchronizer.load(EmptyResource(url: url))
/// print(head.value(of: "Content-Length") as Any)
/// ```
public struct EmptyResource: Resource {
    /// Loads of a `HEAD` or `GET` with equal URL and headers are coalesced.
    public let identity: ResourceIdentity

    /// Creates a resource for the head of the response to a request with this method.
    public init(url: URL, method: String = "HEAD") {
        self.init(url: url, method: method, headers: [:])
    }

    /// Creates a resource for the head of the response to a request with this method and these headers, and without a body.
    public init(url: URL, method: String = "HEAD", headers: [String: String]) {
        self.init(request: URLRequest(url: url, method: method, headers: headers))
    }

    /// Creates a resource for the head of the response to a request with a JSON body, such as a `PUT` that is answered with 204.
    ///
    /// ```swift
    /// _ = try await synchronizer.load(EmptyResource(url: url, method: "PUT", body: ["title": "New"]))
    /// ```
    ///
    /// - Parameters:
    ///   - url: the URL to send to.
    ///   - method: the method, such as `POST`, `PUT` or `PATCH`.
    ///   - headers: further headers, such as `Authorization`. They replace the header `Content-Type` if one has its name.
    ///   - body: the value to encode. It is encoded now.
    ///   - encoder: the encoder; by default one that sorts keys.
    /// - Throws: the encoder's error.
    public init<Body: Encodable>(
        url: URL, method: String, headers: [String: String] = [:], body: Body, encoder: JSONEncoder? = nil
    ) throws {
        self.init(
            request: try URLRequest(url: url, method: method, headers: headers, jsonBody: body, encoder: encoder))
    }

    /// Creates a resource for the head of the response to a request. A body is received, stored if it may be, and dropped. It may
    /// exceed the limit of the configuration (``Synchronizer/Configuration/maximumResponseSize``): then the load ends without the
    /// rest of it.
    public init(request: URLRequest) {
        identity = ResourceIdentity(request)
    }

    /// The request with which it was created.
    public func request() -> URLRequest { identity.request }

    /// Always throws: the synchronizer makes the object from the head of the response, not from the body.
    public var parse: @Sendable (Data) throws -> ResponseHead { { _ in throw CocoaError(.featureUnsupported) } }

    /// True: there is nothing to parse.
    public static var parsesQuickly: Bool { true }

    /// True: the body does not matter.
    public static var acceptsEmptyBody: Bool { true }
}
