import Foundation

/// Something to request over HTTP and parse from the bytes of the response.
///
/// ```swift
/// struct Greeting: Resource {
///     let url: URL
///     func request() -> URLRequest { URLRequest(url: url) }
///     var parse: @Sendable (Data) throws -> String { { String(decoding: $0, as: UTF8.self) } }
/// }
/// ```
public protocol Resource<ParsedObject>: Sendable {
    /// The type of the parsed object.
    associatedtype ParsedObject: Sendable

    /// Returns the request. Called once for each load, also for a memory hit. The load sends this request, also when it is
    /// retried. Loads with equal method, URL, headers and cache policy are coalesced.
    func request() -> URLRequest

    /// Parses the whole body, which is not empty unless ``acceptsEmptyBody`` is true, on a background thread. Its error reaches the
    /// caller as ``SynchronizerError/undecodable(_:_:)``. Long work should check ``ParseCancellation`` regularly.
    var parse: @Sendable (Data) throws -> ParsedObject { get }

    /// Distinguishes this parse from others of the same type on the same response: the size of a thumbnail, the options of a
    /// decoder. Resources with equal requests, types and variants share one parse and one object in memory.
    var variant: ResourceVariant { get }

    /// The request that loads send, and the key by which they are coalesced. By default it is created from ``request()`` for
    /// each load. A resource can keep it to save that time, for example for images in recycled cells; then ``request()`` is not
    /// called.
    var identity: ResourceIdentity { get }

    /// Whether the parse takes only a few microseconds for a body of any size. Then it runs on the thread that received the
    /// bytes, because switching threads would take longer.
    static var parsesQuickly: Bool { get }

    /// Whether a success without a body is parsed, such as the response to a `HEAD`, or a 204. If
    /// this is false, the load of such a response fails with `.noData`.
    static var acceptsEmptyBody: Bool { get }

    /// The largest accepted body in bytes; nil for the limit of the configuration.
    var maximumSize: Int? { get }

    /// Seconds for which a successful response may be used if it has neither `Cache-Control` nor `Expires`; nil for the
    /// `cacheTime` of the ``SessionDelegate``, or that of the configuration. The lifetime is stored with the response. It has
    /// whole seconds: a fraction is dropped, so a `cacheTime` below 1 is a lifetime of 0.
    var cacheTime: TimeInterval? { get }

    /// The URL of a smaller version for networks on which data should be saved; nil if there is none. Loads request it instead
    /// where ``Synchronizer/Configuration/usesLowDataURLs`` is true, and on Apple's systems where Low Data Mode refuses the
    /// request for the full version. In the latter case a load finds the smaller version in memory only after that refusal, so it
    /// does not appear in the first frame. If the network must not be used (``Synchronizer/isOffline``) and only the other version
    /// is stored, the load gets that version.
    var lowDataURL: URL? { get }

    /// The size of the object in memory in bytes, for the limits of the memory cache. `size` is that of the body.
    func cost(of object: ParsedObject, size: Int) -> Int
}

/// ``Resource`` under another name, for a program that has a type of its own called `Resource`.
public typealias RemoteResource = Resource

extension Resource {
    /// By default all resources of a type parse in the same way.
    public var variant: ResourceVariant { .standard }

    /// By default created from ``request()`` each time.
    public var identity: ResourceIdentity { ResourceIdentity(request()) }

    /// By default false: the parse has a thread of its own.
    public static var parsesQuickly: Bool { false }

    /// By default false: an empty body is `.noData`.
    public static var acceptsEmptyBody: Bool { false }

    /// By default nil: the limit of the configuration applies.
    public var maximumSize: Int? { nil }

    /// By default nil: there is one version.
    public var lowDataURL: URL? { nil }

    /// By default nil: that of the ``SessionDelegate`` or of the configuration applies.
    public var cacheTime: TimeInterval? { nil }

    /// By default the size of the body.
    public func cost(of object: ParsedObject, size: Int) -> Int { size }
}

/// Distinguishes parses of the same response; see ``Resource/variant``.
public struct ResourceVariant: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The variant of resources that have only one.
    public static let standard = ResourceVariant("")

    private let name: String
    private let object: Identity?

    /// Creates a variant with a name, such as `"256x256"`.
    public init(_ name: String) {
        self.name = name
        object = nil
    }

    /// Creates a variant with a name.
    public init(stringLiteral name: String) {
        self.init(name)
    }

    /// Creates a variant with an object that the parse uses, such as a decoder, and keeps that alive. It equals variants with
    /// the same name and object.
    public init(_ name: String = "", identity object: any AnyObject & Sendable) {
        self.name = name
        self.object = Identity(object: object)
    }

    /// The name, which identifies the variant in later launches, too; nil if the variant has an object.
    var persistentName: String? { object == nil ? name : nil }

    private struct Identity: Hashable, Sendable {
        let object: any AnyObject & Sendable

        static func == (one: Identity, other: Identity) -> Bool { one.object === other.object }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
    }
}
