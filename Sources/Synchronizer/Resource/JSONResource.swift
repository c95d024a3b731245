import Foundation
import HTTPCaching

/// A value decoded from JSON.
///
/// ```swift
/// let feed = try await synchronizer.load(JSONResource<Feed>(url: url))
/// ```
public struct JSONResource<Value: Decodable & Sendable>: Resource {
    /// What its loads are shared by: method, URL and fields of the request.
    public let identity: ResourceIdentity
    private let decoder: JSONDecoder?

    /// The value at a URL, requested with `Accept: application/json`.
    ///
    /// - Parameter decoder: what decodes it; by default one without options. Do not change it afterwards: it is used
    ///   on background threads. Resources share a parse only if they have the very same decoder, or the default.
    public init(url: URL, decoder: JSONDecoder? = nil) {
        self.init(request: URLRequest(url: url), decoder: decoder)
    }

    /// The value in the response to a request, which gets `Accept: application/json` if it has no `Accept` of its own.
    ///
    /// - Parameter decoder: see ``init(url:decoder:)``.
    public init(request: URLRequest, decoder: JSONDecoder? = nil) {
        var request = request
        if request.value(forHTTPHeaderField: FieldName.accept) == nil {
            request.setValue("application/json", forHTTPHeaderField: FieldName.accept)
        }
        identity = ResourceIdentity(request)
        self.decoder = decoder
    }

    /// The request that it was made with, with an `Accept`.
    public func request() -> URLRequest { identity.request }

    /// Decodes, on a background thread; throws what the decoder throws, most often a `DecodingError`.
    public var parse: @Sendable (Data) throws -> Value {
        let decoder = decoder ?? JSONDecoder()
        return { try decoder.decode(Value.self, from: $0) }
    }

    /// Told by the decoder, which may have options.
    public var variant: ResourceVariant {
        decoder.map { ResourceVariant(identity: $0) } ?? .standard
    }
}
