import Foundation

/// The bytes of a response.
public struct DataResource: Resource {
    /// In one object, because resources are copied more often than they are created.
    private let content: Boxed<ResourceIdentity>

    /// Creates a resource for the bytes at a URL.
    public init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// Creates a resource for the bytes of the response to a request.
    public init(request: URLRequest) {
        content = Boxed(ResourceIdentity(request))
    }

    /// The request with which it was created.
    public func request() -> URLRequest { content.value.request }

    /// Loads with equal method, URL and headers are coalesced.
    public var identity: ResourceIdentity { content.value }

    /// The body as it is, decoded from its transfer and content codings (RFC 9110 §8.4). Never throws.
    public var parse: @Sendable (Data) throws -> Data { { $0 } }

    /// The bytes of the data.
    public func cost(of object: Data, size: Int) -> Int { object.count }

    /// True: there is nothing to parse.
    public static var parsesQuickly: Bool { true }

    /// True: an empty body gives empty data.
    public static var acceptsEmptyBody: Bool { true }
}
