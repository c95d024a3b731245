import Foundation

/// The bytes themselves.
public struct DataResource: Resource {
    /// In one object, because resources are copied more often than they are made.
    private let content: Boxed<ResourceIdentity>

    /// The bytes at a URL.
    public init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// The bytes that a request is answered with.
    public init(request: URLRequest) {
        content = Boxed(ResourceIdentity(request))
    }

    /// The request that it was made with.
    public func request() -> URLRequest { content.value.request }

    /// What its loads are shared by: method, URL and fields of the request.
    public var identity: ResourceIdentity { content.value }

    /// The body as it is, decoded from its transfer and content codings (RFC 9110 §8.4). Never throws.
    public var parse: @Sendable (Data) throws -> Data { { $0 } }

    /// True: nothing is parsed.
    public static var parsesQuickly: Bool { true }
}
