import Foundation
import HTTPCaching

/// A file: a body of any size, written to the disk while it arrives.
///
/// ```swift
/// let file = try await synchronizer.load(FileResource(url: url, to: destination))
/// ```
///
/// A load needs a few megabytes of memory, however large the body. The file at the destination is replaced when the
/// body is complete, and stays as it was if anything fails.
///
/// After a failure, a cancellation or a kill of the process, the next load continues the download, in this process or a
/// later one. This needs managed mode, and a response with a strong `ETag`, or with a strong `Last-Modified` and no `ETag`
/// (RFC 9110 §8.8). Otherwise the next load starts over.
///
/// The response is cached like every other. If `SQLiteURLCache` takes the body, it arrives in a file of the cache. The
/// destination gets a clone of that file if the file system supports clones (APFS, btrfs, XFS). Otherwise the first destination
/// gets a hard link, and any other one a copy. Bodies that the cache does not take (of more than half its capacity without the
/// journal) arrive in a hidden file beside the destination. That file stays if the rest can be requested later: load the same URL
/// to the same destination to continue.
///
/// The file has mode 0600. You may edit the file: if it is a link, the cache finds the change on the next use and drops its
/// entry.
public struct FileResource: Resource {
    /// Where the file goes.
    public let destination: URL
    /// The largest accepted body, in bytes; `Int.max` by default. Nil is no limit, too, and becomes `Int.max`.
    public var maximumSize: Int? {
        didSet { if maximumSize == nil { maximumSize = .max } }
    }
    /// Seconds for which a response without a lifetime of its own may be used; see ``Resource/cacheTime``.
    public var cacheTime: TimeInterval?
    private let content: Boxed<ResourceIdentity>

    /// Creates a resource for the file at a URL.
    ///
    /// - Parameters:
    ///   - url: the URL of the file.
    ///   - destination: where the file goes. The folder must exist. An ordinary file there is replaced. The load fails with
    ///     ``SynchronizerError/file(_:_:)`` if this is no file URL, or if there is a directory, a symbolic link or a special file.
    ///   - maximumSize: the largest accepted body, in bytes; nil for no limit.
    public init(url: URL, to destination: URL, maximumSize: Int? = nil) {
        self.init(request: URLRequest(url: url), to: destination, maximumSize: maximumSize)
    }

    /// Creates a resource for the body of the response to a request.
    ///
    /// - Parameters:
    ///   - request: the request to send, with `Accept-Encoding: identity` unless it has an `Accept-Encoding`: a body that the
    ///     server compresses for the transfer can't be resumed.
    ///   - destination: see ``init(url:to:maximumSize:)``.
    ///   - maximumSize: see ``init(url:to:maximumSize:)``.
    public init(request: URLRequest, to destination: URL, maximumSize: Int? = nil) {
        var request = request
        if request.value(forHTTPHeaderField: FieldName.acceptEncoding) == nil {
            request.setValue("identity", forHTTPHeaderField: FieldName.acceptEncoding)
        }
        content = Boxed(ResourceIdentity(request))
        self.destination = destination
        self.maximumSize = maximumSize ?? .max
    }

    /// True: an empty body is an empty file.
    public static var acceptsEmptyBody: Bool { true }

    /// The request with which it was created, with an `Accept-Encoding`.
    public func request() -> URLRequest { content.value.request }

    /// Loads with equal method, URL and headers share a transfer, also if they go to several destinations.
    public var identity: ResourceIdentity { content.value }

    /// Writes a body that is in memory to the destination, and returns the destination.
    public var parse: @Sendable (Data) throws -> URL {
        let delivery = FileDelivery(to: destination)
        return { [destination] data in
            try delivery.put(data, check: ParseCancellation.check)
            return destination
        }
    }

    /// The destination.
    public var variant: ResourceVariant { ResourceVariant(destination.path) }
}

extension FileResource: SpooledResource {
    package var target: FileTarget? { FileTarget(destination) }

    package func object(from body: StoredBytes) throws -> URL {
        switch body {
        case .data(let data): return try parse(data)
        case .file(let file):
            do {
                try FileDelivery(to: destination).put(file, check: ParseCancellation.check)
            } catch {
                file.keep()
                throw error
            }
            return destination
        }
    }
}
