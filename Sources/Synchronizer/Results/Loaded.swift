import Foundation

/// An object, and where it came from.
public struct Loaded<Object> {
    /// The object, parsed.
    public let object: Object
    /// How the load went, and why it went that way.
    public let trace: LoadTrace
    private let head: ResponseHead

    /// Creates the result of a load, for tests. ``source`` is that of the trace; ``LoadSource/network`` without one.
    public init(object: Object, head: ResponseHead, trace: LoadTrace = LoadTrace()) {
        self.object = object
        self.head = head
        self.trace = trace
    }

    /// Where the object came from.
    public var source: LoadSource { trace.source ?? .network }

    /// The response from which the object was parsed, without an injected `Cache-Control`. From the network, it is as the server sent
    /// it. From the cache, it has the headers that were stored: a subclass of ``SessionDelegate`` may have changed them. An
    /// `HTTPURLResponse`, unless the URL was not an HTTP URL.
    ///
    /// If the object came from memory or from the cache, `Age` is the current one (RFC 9111 §4), and fields that belong to the
    /// connection are missing (§3.1).
    public var response: URLResponse {
        // A stale object may come from memory, too.
        ([.memory, .stale].contains(source) ? head.reused(atAge: trace.age) : head).urlResponse
    }
}

extension Loaded: Sendable where Object: Sendable {}
