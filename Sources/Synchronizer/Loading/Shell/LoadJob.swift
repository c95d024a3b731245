import Foundation
import HTTPCaching

/// A caller's load, with its types erased. All records of the load share the object, because there may be very many. The small
/// properties are together: each of them would take a whole word before a large one.
final class LoadJob: Sendable {
    let request: URLRequest
    let priority: LoadPriority
    /// See ``Resource/parsesQuickly``.
    let parsesQuickly: Bool
    /// See ``Resource/acceptsEmptyBody``.
    let acceptsEmptyBody: Bool
    /// The URL that the caller knows, if a hook has made the request; nil otherwise.
    private let originalURL: Boxed<URL?>?
    private let keepsObject: Bool
    /// The request for the version that is not loaded first: the smaller one, unless the configuration prefers it. Nil if there is
    /// only one version.
    let otherVersion: URLRequest?
    /// Nil for a load that is never coalesced.
    let identity: CoalescingKey?
    /// The key of a request with a body that only reads; nil for other requests.
    let cacheKey: CacheKey?
    let options: FetchOptions
    fileprivate let type: ObjectIdentifier
    fileprivate let variant: ResourceVariant
    private let resource: any Resource

    init<R: Resource>(
        _ resource: R, identity: ResourceIdentity, priority: LoadPriority, options: FetchOptions,
        keepsObject: Bool = true
    ) {
        self.resource = resource
        type = ObjectIdentifier(R.self)
        variant = resource.variant
        parsesQuickly = R.parsesQuickly
        acceptsEmptyBody = R.acceptsEmptyBody
        otherVersion = Self.otherVersion(of: resource, than: identity)
        request =
            Self.isSmaller(otherVersion, of: resource)
            ? identity.request.avoidingConstrainedNetworks : identity.request
        self.identity = identity.coalescingKey
        cacheKey = identity.cacheKey
        self.priority = priority
        self.options = options.with(body: identity.coalescingKey?.body)
        self.keepsObject = keepsObject
        originalURL = nil
    }

    private init(
        _ other: LoadJob, request: URLRequest, identity: CoalescingKey?, priority: LoadPriority, options: FetchOptions,
        originalURL: Boxed<URL?>?
    ) {
        resource = other.resource
        type = other.type
        variant = other.variant
        parsesQuickly = other.parsesQuickly
        acceptsEmptyBody = other.acceptsEmptyBody
        keepsObject = other.keepsObject
        cacheKey = other.cacheKey
        otherVersion = nil
        self.request = request
        self.identity = identity
        self.priority = priority
        self.options = options
        self.originalURL = originalURL
    }

    private static func otherVersion<R: Resource>(of resource: R, than identity: ResourceIdentity) -> URLRequest? {
        guard let smaller = resource.lowDataURL else { return nil }
        if smaller != identity.request.url { return identity.moved(to: smaller).request }
        let full = resource.identity.settingDefault(identity.request.cachePolicy).request
        return full.url == smaller ? nil : full
    }

    /// Whether the request is for the full version, and there is a smaller one for constrained networks.
    var hasSmallerVersion: Bool { Self.isSmaller(otherVersion, of: resource) }

    private static func isSmaller(_ version: URLRequest?, of resource: some Resource) -> Bool {
        version.map { $0.url == resource.lowDataURL } ?? false
    }

    /// Whether a hook has made the request.
    var isPrepared: Bool { originalURL != nil }

    /// The URL that the caller knows.
    var callerURL: URL? { originalURL.map(\.value) ?? request.url }

    /// The same load, but it waits for the revalidation of a stale response.
    var awaitingRefresh: LoadJob {
        var options = options
        options.awaitsRefresh = true
        return LoadJob(
            self, request: request, identity: identity, priority: priority, options: options, originalURL: originalURL)
    }

    /// The same load with another request, made by a hook.
    func changed(to other: ResourceIdentity, priority: LoadPriority, cookies: String?) -> LoadJob {
        var options = options
        options.sessionCookies = cookies
        options.body = other.coalescingKey?.body
        return LoadJob(
            self, request: other.request, identity: other.coalescingKey, priority: priority, options: options,
            originalURL: originalURL ?? Boxed(request.url))
    }

    /// The object, and its size in memory in bytes.
    ///
    /// - Parameter stream: a parse of the body while it arrived.
    func parse(_ fetched: Fetched, stream: StreamRun?) throws -> (object: any Sendable, cost: Int) {
        if isOfHead { return (fetched.response, 0) }
        if options.file != nil, let streaming = resource as? any StreamingResource {
            return try Self.parse(fetched, stream: stream, as: streaming)
        }
        if options.file != nil, let spooled = resource as? any SpooledResource {
            return try Self.parse(fetched.storedBytes, as: spooled)
        }
        return try Self.parse(fetched.body, as: resource)
    }

    private static func parse<R: StreamingResource>(
        _ fetched: Fetched, stream: StreamRun?, as resource: R
    ) throws -> (object: any Sendable, cost: Int) {
        let body = fetched.storedBytes
        let streamed = fetched.trace.source == .network ? try stream?.object(of: body.count) : nil
        let object = try streamed as? R.ParsedObject ?? resource.object(from: body)
        body.drop()
        return (object, resource.cost(of: object, size: body.count))
    }

    /// A parse of the body while it arrives; nil if the resource has none.
    func makeStream(time: any TimeSource) -> StreamRun? {
        (resource as? any StreamingResource)?.makeStream(time: time)
    }

    /// Why no file can be put at the destination; nil if no reason is known.
    var objection: FileError? { options.file?.destination.flatMap { FileDelivery(to: $0).objection } }

    private static func parse<R: SpooledResource>(
        _ body: StoredBytes, as resource: R
    ) throws -> (object: any Sendable, cost: Int) {
        let object = try resource.object(from: body)
        return (object, resource.cost(of: object, size: body.count))
    }

    private static func parse<R: Resource>(_ data: Data, as resource: R) throws -> (object: any Sendable, cost: Int) {
        let object = try resource.parse(data)
        return (object, resource.cost(of: object, size: data.count))
    }

    /// Whether the object is made from the head of the response, so that equal bodies do not give equal objects.
    var isOfHead: Bool { type == ObjectIdentifier(EmptyResource.self) }

    /// The object of a load that failed only because of a body that the resource drops anyway.
    func object(despite error: SynchronizerError) -> LoadedObject? {
        guard isOfHead, case .tooLarge(_, let context) = error, let head = context.head,
            (200..<300).contains(head.status)
        else { return nil }
        var trace = context.trace
        trace.source = .network
        return LoadedObject(
            object: head, cost: 0, bodyChecksum: nil, head: head, freshUntil: .distantPast, isForThisLoadOnly: true,
            trace: trace)
    }

    /// Whether an error of the parse says that the body is bad.
    func blamesBody(for error: any Error) -> Bool {
        (resource as? any ErrorJudging)?.blamesBody(for: error) ?? true
    }

    /// Makes previews of the body while it arrives; nil if the resource has none.
    func makePreviewer() -> PreviewRun.Preview? {
        (resource as? any ProgressiveResource).map { Self.previewer(of: $0) }
    }

    private static func previewer<R: ProgressiveResource>(of resource: R) -> PreviewRun.Preview {
        let previewer = resource.makePreviewer()
        return { previewer.preview(of: $0) }
    }

    /// Whether its objects may be stored next to responses.
    var isDerived: Bool { resource is any DerivedResource }

    /// How its objects are stored next to responses; nil if they are not.
    var derivedCoding: DerivedCoding? { (resource as? any DerivedResource).flatMap { Self.coding(of: $0) } }

    private static func coding<R: DerivedResource>(of resource: R) -> DerivedCoding? { DerivedCoding(resource) }

    /// Whether the resource has previews of the body while it arrives.
    var hasPreviews: Bool { resource is any ProgressiveResource }

    var downloadKey: DownloadKey? { identity == nil ? nil : DownloadKey(job: self) }

    var parseKey: ParseKey? { identity == nil ? nil : ParseKey(job: self) }

    var objectKey: ObjectKey? {
        identity.map { ObjectKey(identity: $0, type: type, variant: variant) }
    }

    /// The key under which the memory cache keeps the object; nil if it does not.
    var memoryKey: ObjectKey? {
        guard keepsObject else { return nil }
        if let fields = request.allHTTPHeaderFields, fields.keys.contains(where: CoalescingKey.bypassesMemoryCache) {
            return nil
        }
        return objectKey
    }

    /// The origin, for which the limit per host counts, because another port is another server. Most URLs spell it in the normal
    /// form. Parsing them all would make a cold load some percent slower (`bench-loading --rows cold`).
    var host: String {
        guard let text = request.url?.absoluteString.utf8 else { return "" }
        var slashes = 0
        let end = text.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        let written = String(text[..<(end ?? text.endIndex)]) ?? ""
        let isNormal = !written.utf8.contains { $0 == UInt8(ascii: "@") || (65...90).contains($0) }
        if isNormal, ![":", ":80", ":443"].contains(where: written.hasSuffix) { return written }
        return CacheRules.origin(of: written) ?? written
    }
}

/// Loads with equal keys share a download. The key consists of identity, cache policy, allowed networks and options.
struct DownloadKey: Hashable, Sendable {
    let job: LoadJob
}

/// Loads of a download with equal keys share a parse. The key consists of type and variant.
struct ParseKey: Equatable, Sendable {
    let job: LoadJob
}

/// The key of a parsed object in memory.
struct ObjectKey: Hashable, Sendable {
    let identity: CoalescingKey
    let type: ObjectIdentifier
    let variant: ResourceVariant

    /// A request has few variants, so the hash ignores them.
    func hash(into hasher: inout Hasher) {
        hasher.combine(identity.hash ^ Int(bitPattern: type))
    }
}

extension Resource {
    /// The key of its object in memory; nil if its request is never coalesced.
    func objectKey(_ identity: ResourceIdentity) -> ObjectKey? {
        identity.coalescingKey.map { ObjectKey(identity: $0, type: ObjectIdentifier(Self.self), variant: variant) }
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

extension FetchOptions {
    fileprivate func with(body: String?) -> FetchOptions {
        var options = self
        options.body = body
        return options
    }
}
