import Foundation

/// What one caller wants loaded, with its types erased.
///
/// One object, that all records of the load refer to: there may be very many of them.
final class LoadJob: Sendable {
    let request: URLRequest
    /// Nil for a load that shares with nobody.
    let identity: RequestIdentity?
    let options: FetchOptions
    let priority: LoadPriority
    /// See ``Resource/parsesQuickly``.
    let parsesQuickly: Bool
    private let keepsObject: Bool
    fileprivate let type: ObjectIdentifier
    fileprivate let variant: ResourceVariant
    private let resource: any Resource

    init<R: Resource>(
        _ resource: R, _ identity: ResourceIdentity, priority: LoadPriority, options: FetchOptions,
        keepsObject: Bool = true
    ) {
        self.resource = resource
        type = ObjectIdentifier(R.self)
        variant = resource.variant
        parsesQuickly = R.parsesQuickly
        request = identity.request
        self.identity = identity.sharing
        self.priority = priority
        self.options = options
        self.keepsObject = keepsObject
    }

    private init(_ other: LoadJob, options: FetchOptions) {
        resource = other.resource
        type = other.type
        variant = other.variant
        parsesQuickly = other.parsesQuickly
        request = other.request
        identity = other.identity
        priority = other.priority
        keepsObject = other.keepsObject
        self.options = options
    }

    /// The same load, but it waits for what the revalidation of a stale response brings.
    var awaitingRefresh: LoadJob {
        var options = options
        options.awaitsRefresh = true
        return LoadJob(self, options: options)
    }

    /// The object and the bytes that it takes in memory.
    func parse(_ data: Data) throws -> (object: any Sendable, cost: Int) { try Self.parse(data, resource) }

    private static func parse<R: Resource>(_ data: Data, _ resource: R) throws -> (object: any Sendable, cost: Int) {
        let object = try resource.parse(data)
        return (object, resource.cost(of: object, size: data.count))
    }

    /// What makes previews of the body while it arrives; nil if there are none.
    func makePreviewer() -> PreviewRun.Preview? {
        (resource as? any ProgressiveResource).map { Self.previewer(of: $0) }
    }

    private static func previewer<R: ProgressiveResource>(of resource: R) -> PreviewRun.Preview {
        let previewer = resource.makePreviewer()
        return { previewer.preview(of: $0) }
    }

    /// Whether there are previews of the body while it arrives.
    var hasPreviews: Bool { resource is any ProgressiveResource }

    var downloadKey: DownloadKey? { identity == nil ? nil : DownloadKey(job: self) }

    var parseKey: ParseKey? { identity == nil ? nil : ParseKey(job: self) }

    var objectKey: ObjectKey? {
        identity.map { ObjectKey(identity: $0, type: type, variant: variant) }
    }

    /// The key under which the object may be of use to later loads; nil if it is not.
    var memoryKey: ObjectKey? {
        guard keepsObject else { return nil }
        if let fields = request.allHTTPHeaderFields, fields.keys.contains(where: RequestIdentity.callsForJudgement) {
            return nil
        }
        return objectKey
    }

    /// The bound per host is per origin: another port is another server. Scheme and authority, as the URL has them.
    var host: String {
        guard let text = request.url?.absoluteString.utf8 else { return "" }
        var slashes = 0
        let end = text.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return String(text[..<(end ?? text.endIndex)]) ?? ""
    }
}

extension DownloadKey {
    static func == (one: DownloadKey, other: DownloadKey) -> Bool {
        let (one, other) = (one.job, other.job)
        return one === other
            || (one.identity == other.identity && one.request.cachePolicy == other.request.cachePolicy
                && one.options == other.options && NetworkAccess(of: one.request) == NetworkAccess(of: other.request))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(job.identity) }
}

extension ParseKey {
    static func == (one: ParseKey, other: ParseKey) -> Bool {
        one.job === other.job || (one.job.type == other.job.type && one.job.variant == other.job.variant)
    }
}
