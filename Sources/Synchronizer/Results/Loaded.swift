import Foundation

/// An object, with where it came from.
public struct Loaded<Object> {
    /// The object, parsed.
    public let object: Object
    /// How the load went, and why it went that way.
    public let trace: LoadTrace
    private let head: ResponseHead

    init(object: Object, head: ResponseHead, trace: LoadTrace) {
        self.object = object
        self.head = head
        self.trace = trace
    }

    /// Where the object came from.
    public var source: LoadSource { trace.source ?? .network }

    /// The server's response that the object was made from: as the server sent it, without injected fields. (In native
    /// mode if ``SessionDelegate`` has put them in; what a subclass puts in is seen as it is.)
    /// An `HTTPURLResponse`, unless the URL's scheme was not HTTP.
    public var response: URLResponse { head.urlResponse }
}

extension Loaded: Sendable where Object: Sendable {}
