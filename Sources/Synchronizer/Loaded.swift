import Foundation

/// An object, with where it came from.
public struct Loaded<Object> {
    /// The object, parsed.
    public let object: Object
    /// Where it came from.
    public var source: LoadSource { trace.source ?? .network }
    /// The server's response that the object was made from: as the server sent it, without injected fields.
    public let response: URLResponse
    /// How the load went, and why it went that way.
    public let trace: LoadTrace

    init(object: Object, response: URLResponse, trace: LoadTrace) {
        self.object = object
        self.response = response
        self.trace = trace
    }
}

extension Loaded: Sendable where Object: Sendable {}
