import Foundation

/// The bytes themselves.
public struct DataResource: Resource {
    private let urlRequest: URLRequest
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

    public func request() -> URLRequest { urlRequest }

    public var parse: @Sendable (Data) throws -> Data { { $0 } }

    public static var parsesQuickly: Bool { true }
}
