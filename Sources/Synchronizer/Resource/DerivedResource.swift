public import Foundation

/// A resource whose parsed object can be stored next to its response, so that a later launch does not parse again.
///
/// ```swift
/// extension Thumbnail: DerivedResource {
///     static let encodingVersion = "1"
///     func encode(_ object: Picture) throws -> Data? { object.bytes }
///     func decode(_ data: Data) throws -> Picture { try Picture(bytes: data) }
/// }
/// ```
///
/// An object is stored if it is small and its parse took long: ``Synchronizer/Configuration/derivedObjects`` sets the limits. Its
/// size in memory is its ``Resource/cost(of:size:)``. A later load whose response is fresh reads the object instead of the body.
/// The object belongs to the bytes that it was made from: it stays, and is used, when the server confirms the response (304), and
/// it is removed with the response or its body. It is evicted like a response.
///
/// Objects are stored in managed mode by caches of this package, such as `SQLiteURLCache`, and on the disk only. A variant
/// that names an object (``ResourceVariant/init(_:identity:)``) means nothing to the next launch, so nothing is stored for it.
/// The same holds for resources whose type is private, or local to a function: Swift names it differently in each launch.
public protocol DerivedResource: Resource {
    /// Names the encoding and what the object contains. Change it whenever ``Resource/parse``, ``encode(_:)`` or
    /// ``decode(_:)`` changes: objects of other versions are not used.
    static var encodingVersion: String { get }

    /// Encodes an object, on a background thread after its subscribers got it. Nil, or an error, stores nothing.
    func encode(_ object: ParsedObject) throws -> Data?

    /// Decodes an object, on a background thread. It should take much less time than ``Resource/parse``. The bytes are those
    /// that ``encode(_:)`` returned, for the same ``Resource/variant``. After an error the body is parsed.
    func decode(_ data: Data) throws -> ParsedObject
}

/// The coding of a resource's objects, with its types erased.
struct DerivedCoding: Sendable {
    /// Names type, version and variant. Each is preceded by its length, so that different triples have different names.
    let name: String
    let encode: @Sendable (any Sendable) throws -> Data?
    /// Returns the object, and its size in memory in bytes.
    let decode: @Sendable (_ data: Data, _ bodySize: Int) throws -> (object: any Sendable, cost: Int)

    /// Nil if its variant or its type has no name that the next launch knows.
    init?<R: DerivedResource>(_ resource: R) {
        guard let variant = resource.variant.persistentName else { return nil }
        let type = String(reflecting: R.self)
        // The name of a private or local type contains an address, which differs from launch to launch.
        if type.contains("(unknown context at ") { return nil }
        name = [type, R.encodingVersion, variant].map { "\($0.utf8.count) \($0)" }.joined()
        encode = { try ($0 as? R.ParsedObject).flatMap(resource.encode) }
        decode = { data, bodySize in
            let object = try resource.decode(data)
            return (object, resource.cost(of: object, size: bodySize))
        }
    }
}
