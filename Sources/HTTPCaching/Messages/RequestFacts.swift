/// The caching directives and conditions in the fields of a request, read in one pass (RFC 9111 §5.2.1, RFC 9110 §13, §14).
struct RequestFacts {
    private(set) var control = CacheControl()
    private(set) var range: String?
    private(set) var ifRange: String?
    private(set) var ifNoneMatch: [String] = []
    private(set) var ifModifiedSince: String?
    /// Whether there is an `If-Match` or `If-Unmodified-Since`, which are for the origin server only (RFC 9111 §4.3.2).
    private(set) var asksTheOrigin = false
    private var hasCacheControl = false
    private var pragma: [String] = []

    init(_ request: CacheRequest) {
        for line in request.fields.lines { add(line) }
        for line in request.sessionHeaders.lines where !request.fields.contains(line.name) { add(line) }
    }

    private mutating func add(_ line: HTTPFields.Line) {
        switch line.name.utf8.count {
        case 5 where HTTPFields.same(line.name, FieldName.range): range = line.value
        case 6 where HTTPFields.same(line.name, FieldName.pragma): pragma.append(line.value)
        case 8 where HTTPFields.same(line.name, FieldName.ifRange): ifRange = line.value
        case 8 where HTTPFields.same(line.name, FieldName.ifMatch): asksTheOrigin = true
        case 13 where HTTPFields.same(line.name, FieldName.ifNoneMatch): ifNoneMatch.append(line.value)
        case 13 where HTTPFields.same(line.name, FieldName.cacheControl):
            hasCacheControl = true
            control.add(line.value)
        case 17 where HTTPFields.same(line.name, FieldName.ifModifiedSince): ifModifiedSince = line.value
        case 19 where HTTPFields.same(line.name, FieldName.ifUnmodifiedSince): asksTheOrigin = true
        default: break
        }
    }

    /// Whether the caller asks for validation: with `no-cache`, or with `Pragma: no-cache` and without `Cache-Control`
    /// (RFC 9111 §5.2.1.4, §5.4).
    var asksForValidation: Bool {
        control.contains(.noCache) || !control.noCacheFields.isEmpty
            || (!hasCacheControl && pragma.contains { $0.listedTokens.contains { HTTPFields.same($0, "no-cache") } })
    }

    /// Whether the caller validates its own copy (RFC 9111 §4.3.2).
    var isConditional: Bool { !ifNoneMatch.isEmpty || ifModifiedSince != nil }
}
