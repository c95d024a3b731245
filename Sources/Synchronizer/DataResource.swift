import Foundation

/// The bytes themselves.
public struct DataResource: Resource {
    private let urlRequest: URLRequest
    /// What its loads are shared by: method, URL and fields of the request.
    public let identity: ResourceIdentity

    /// The bytes at a URL.
    public init(url: URL) {
        self.init(request: URLRequest(url: url))
    }

    /// The bytes that a request is answered with.
    public init(request: URLRequest) {
        urlRequest = request
        identity = ResourceIdentity(request)
    }

    /// The request that it was made with.
    public func request() -> URLRequest { urlRequest }

    /// The body as it is, decoded from its transfer and content codings (RFC 9110 §8.4). Never throws.
    public var parse: @Sendable (Data) throws -> Data { { $0 } }

    /// True: nothing is parsed.
    public static var parsesQuickly: Bool { true }
}
