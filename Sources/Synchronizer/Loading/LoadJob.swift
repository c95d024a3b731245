import Foundation

/// What one caller wants loaded, with its types erased.
struct LoadJob: Sendable {
    let request: URLRequest
    /// Nil for a load that shares with nobody.
    let identity: RequestIdentity?
    let memoryUse: MemoryUse?
    let type: ObjectIdentifier
    let variant: ResourceVariant
    var priority: LoadPriority
    var options: FetchOptions
    let parsesQuickly: Bool
    /// The object and the bytes that it takes in memory.
    let parse: @Sendable (Data) throws -> (object: any Sendable, cost: Int)

    init<R: Resource>(_ resource: R, request: URLRequest, priority: LoadPriority, options: FetchOptions) {
        self.request = request
        let identity = resource.identity
        self.identity = identity.request
        memoryUse = identity.memoryUse
        type = ObjectIdentifier(R.self)
        variant = resource.variant
        self.priority = priority
        self.options = options
        parsesQuickly = R.parsesQuickly
        parse = { data in
            let object = try resource.parse(data)
            return (object, resource.cost(of: object, size: data.count))
        }
    }

    var downloadKey: DownloadKey? {
        identity.map {
            DownloadKey(
                identity: $0, policy: request.cachePolicy, access: NetworkAccess(of: request), options: options)
        }
    }

    var objectKey: ObjectKey? {
        identity.map { ObjectKey(identity: $0, type: type, variant: variant) }
    }

    /// What makes previews of the body while it arrives; nil if there are none.
    var makePreview: (@Sendable () -> PreviewRun.Preview)?

    private var keepsObject = true

    /// The same, but its object is of no use to later loads.
    var notRemembered: LoadJob {
        var job = self
        job.keepsObject = false
        return job
    }

    /// Whether the object may be of use to later loads.
    var isRemembered: Bool {
        guard keepsObject else { return false }
        guard let fields = request.allHTTPHeaderFields, !fields.isEmpty else { return true }
        return !fields.keys.contains(where: RequestIdentity.callsForJudgement)
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
