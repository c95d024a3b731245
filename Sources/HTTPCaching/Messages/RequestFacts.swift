/// What the fields of a request say about caching, collected in one pass (RFC 9111 §5.2.1, RFC 9110 §13, §14).
struct RequestFacts {
    private(set) var control = CacheControl()
    private(set) var range: String?
    private(set) var ifRange: String?
    private(set) var ifNoneMatch: [String] = []
    private(set) var ifModifiedSince: String?
    /// `If-Match` or `If-Unmodified-Since`: they are for the origin server only (RFC 9111 §4.3.2).
    private(set) var asksTheOrigin = false
    private var hasCacheControl = false
    private var pragma: [String] = []

    init(_ request: CacheRequest) {
        for line in request.fields.lines { add(line) }
        for line in request.impliedFields.lines where !request.fields.contains(line.name) { add(line) }
    }

    private mutating func add(_ line: HTTPFields.Line) {
        switch line.name.utf8.count {
        case 5 where HTTPFields.same(line.name, "Range"): range = line.value
        case 6 where HTTPFields.same(line.name, "Pragma"): pragma.append(line.value)
        case 8 where HTTPFields.same(line.name, "If-Range"): ifRange = line.value
        case 8 where HTTPFields.same(line.name, "If-Match"): asksTheOrigin = true
        case 13 where HTTPFields.same(line.name, "If-None-Match"): ifNoneMatch.append(line.value)
        case 13 where HTTPFields.same(line.name, "Cache-Control"):
            hasCacheControl = true
            control.add(line.value)
        case 17 where HTTPFields.same(line.name, "If-Modified-Since"): ifModifiedSince = line.value
        case 19 where HTTPFields.same(line.name, "If-Unmodified-Since"): asksTheOrigin = true
        default: break
        }
    }

    /// Whether the caller asks for validation: `no-cache`, or `Pragma: no-cache` where there is no `Cache-Control`
    /// (RFC 9111 §5.2.1.4, §5.4).
    var asksForValidation: Bool {
        control.contains(.noCache) || !control.noCacheFields.isEmpty
            || (!hasCacheControl && pragma.contains { $0.listedTokens.contains { HTTPFields.same($0, "no-cache") } })
    }

    /// Whether the caller validates a response of its own (RFC 9111 §4.3.2).
    var isConditional: Bool { !ifNoneMatch.isEmpty || ifModifiedSince != nil }
}
