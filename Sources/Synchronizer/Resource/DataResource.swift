import Foundation

/// The bytes of a response.
public struct DataResource: Resource {
    private struct Content: Sendable {
        let identity: ResourceIdentity
        var cacheTime: TimeInterval?
        var maximumSize: Int?
    }

    /// Boxed, because resources are copied more often than they are created.
    private var content: Boxed<Content>

    /// Creates a resource for the bytes at a URL.
    public init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// Creates a resource for the bytes at a URL, requested with these headers.
    public init(url: URL, headers: [String: String]) {
        self.init(url: url, method: "GET", headers: headers)
    }

    /// Creates a resource for the bytes of the response to a request without a body.
    ///
    /// - Parameters:
    ///   - url: the URL to send to.
    ///   - method: the method, such as `GET` or `DELETE`.
    ///   - headers: headers, such as `Authorization`.
    public init(url: URL, method: String, headers: [String: String] = [:]) {
        self.init(request: URLRequest(url: url, method: method, headers: headers))
    }

    /// Creates a resource for the bytes of the response to a request.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - cacheKey: states that a request with a body only reads, so that its response may be reused. See ``CacheKey``.
    public init(request: URLRequest, cacheKey: CacheKey? = nil) {
        content = Boxed(Content(identity: ResourceIdentity(request, keyIfAny: cacheKey)))
    }

    /// The request with which it was created.
    public func request() -> URLRequest { identity.request }

    /// Loads with equal method, URL and headers are coalesced.
    public var identity: ResourceIdentity { content.value.identity }

    /// Seconds for which a response without a lifetime of its own may be used; see ``Resource/cacheTime``.
    public var cacheTime: TimeInterval? {
        get { content.value.cacheTime }
        set { change { $0.cacheTime = newValue } }
    }

    /// The largest accepted body in bytes; nil for the limit of the configuration.
    public var maximumSize: Int? {
        get { content.value.maximumSize }
        set { change { $0.maximumSize = newValue } }
    }

    private mutating func change(_ change: (inout Content) -> Void) {
        var changed = content.value
        change(&changed)
        content = Boxed(changed)
    }

    /// The body without its transfer and content codings (RFC 9110 §8.4), and otherwise unchanged. Never throws.
    public var parse: @Sendable (Data) throws -> Data { { $0 } }

    /// The bytes of the data.
    public func cost(of object: Data, size: Int) -> Int { object.count }

    /// True: there is nothing to parse.
    public static var parsesQuickly: Bool { true }

    /// True: an empty body gives empty data.
    public static var acceptsEmptyBody: Bool { true }
}
