/// The caching directives and validators in the fields of a response, read in one pass.
struct ResponseFacts {
    private(set) var control = CacheControl()
    /// The first line of each field that is not a list: only the first one counts (RFC 9111 §4.2.1, §5.1).
    private(set) var age: String?
    private(set) var date: String?
    private(set) var expires: String?
    private(set) var lastModified: String?
    private(set) var entityTag: String?
    private(set) var vary: [String] = []
    private(set) var hasContentCoding = false

    init(_ fields: HTTPFields) {
        fields.forEach { add($0, $1) }
    }

    private mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: HTTPFields.Value) {
        switch name.count {
        case 3 where sameName(name, "age"): age = age ?? value.text
        case 4 where sameName(name, "date"): date = date ?? value.text
        case 4 where sameName(name, "etag"): entityTag = entityTag ?? value.text
        case 4 where sameName(name, "vary"): vary.append(value.text)
        case 7 where sameName(name, "expires"): expires = expires ?? value.text
        case 13 where sameName(name, "cache-control"): control.add(value.text)
        case 13 where sameName(name, "last-modified"): lastModified = lastModified ?? value.text
        case 16 where sameName(name, "content-encoding"):
            hasContentCoding = !HTTPFields.same(value.text, "identity")
        default: break
        }
    }

    /// Whether the response must not be stored or reused (RFC 9111 §5.2.2.5). `must-understand` overrides `no-store` if the
    /// status is understood (§5.2.2.3).
    func forbidsStoring(status: Int) -> Bool {
        let understood = understoodStatuses.contains(status)
        if control.contains(.mustUnderstand) { return !understood }
        return control.contains(.noStore)
    }

    /// Whether it must be validated before each use, stale or fresh (§5.2.2.4).
    var mustBeValidated: Bool { control.contains(.noCache) }

    /// Whether it must not be used when stale (§4.2.4).
    var mustNotBeStale: Bool { control.contains(.noCache) || control.contains(.mustRevalidate) }
}

/// The final status codes that this cache understands: those of RFC 9110 and RFC 6585.
let understoodStatuses: Set<Int> = [
    200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407,
    408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426, 428, 429, 431, 500, 501, 502, 503, 504, 505, 511,
]

/// RFC 9110 §15.1.
func isHeuristicallyCacheable(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501: return true
    default: return false
    }
}
