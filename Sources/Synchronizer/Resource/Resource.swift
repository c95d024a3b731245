import Foundation

/// Something that can be asked for over HTTP, and made out of the bytes that come back.
///
/// ```swift
/// struct Greeting: Resource {
///     let url: URL
///     func request() -> URLRequest { URLRequest(url: url) }
///     var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }
/// }
/// ```
public protocol Resource<ParsedObject>: Sendable {
    /// What the bytes become.
    associatedtype ParsedObject: Sendable

    /// What to ask. Called once for each load, also for one that memory answers: what it returns is the request that is
    /// sent, also when the load is tried again, and its method, URL, fields and cache policy tell loads apart.
    func request() -> URLRequest

    /// Makes the object. Called with the whole body, never empty, on a background thread; what it throws reaches the
    /// caller as ``SynchronizerError/undecodable(_:_:)``. Long work should ask ``ParseCancellation`` now and then.
    var parse: @Sendable (Data) throws -> ParsedObject { get }

    /// What tells this parse from others of the same type on the same response: a thumbnail's size, a decoder's
    /// options. Resources with equal requests, types and variants share one parse and one object in memory.
    var variant: ResourceVariant { get }

    /// The request that its loads send, and what they are shared by; by default made anew from ``request()`` for each
    /// load. A resource that keeps it spares that, which counts where images in memory fill recycled cells: then the
    /// request that it was made of is sent, and ``request()`` is not called.
    var identity: ResourceIdentity { get }

    /// Whether the parse takes no more than a few microseconds, whatever the size of the body. It is then done on the
    /// thread that has received the bytes, because handing them to another would take longer.
    static var parsesQuickly: Bool { get }

    /// The largest body that this resource accepts, in bytes; nil for the limit of the configuration.
    var maximumSize: Int? { get }

    /// The bytes that the object takes in memory, for the limits of the memory cache. `size` is that of the body.
    func cost(of object: ParsedObject, size: Int) -> Int
}

extension Resource {
    /// By default all resources of a type parse alike.
    public var variant: ResourceVariant { .standard }

    /// By default made of ``request()``, each time.
    public var identity: ResourceIdentity { ResourceIdentity(request()) }

    /// By default false: the parse has a thread to itself.
    public static var parsesQuickly: Bool { false }

    /// By default nil: the limit of the configuration holds.
    public var maximumSize: Int? { nil }

    /// By default the bytes of the body.
    public func cost(of object: ParsedObject, size: Int) -> Int { size }
}

/// What tells two parses of the same response apart; see ``Resource/variant``.
public struct ResourceVariant: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The variant of resources that have but one.
    public static let standard = ResourceVariant("")

    private let name: String
    private let object: Identity?

    /// A variant told by its name, such as `"256x256"`.
    public init(_ name: String) {
        self.name = name
        object = nil
    }

    /// A variant told by its name.
    public init(stringLiteral name: String) {
        self.init(name)
    }

    /// A variant told by an object that parses: equal to others of the same name and the very same object, which it
    /// keeps alive.
    public init(_ name: String = "", identity object: any AnyObject & Sendable) {
        self.name = name
        self.object = Identity(object: object)
    }

    private struct Identity: Hashable, Sendable {
        let object: any AnyObject & Sendable

        static func == (one: Identity, other: Identity) -> Bool { one.object === other.object }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
    }
}
