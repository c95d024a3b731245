/// What the fields of a response say about its caching, collected in one pass.
struct ResponseFacts {
    private(set) var control = CacheControl()
    /// The first line of each, for those that are no lists: of several the first counts (RFC 9111 §4.2.1, §5.1).
    private(set) var age: String?
    private(set) var date: String?
    private(set) var expires: String?
    private(set) var lastModified: String?
    private(set) var entityTag: String?
    private(set) var vary: [String] = []
    private(set) var hasContentCoding = false

    init(_ fields: HTTPFields) {
        for line in fields.lines {
            line.name.withBytes { name in
                switch name.count {
                case 3 where same(name, "age"): age = age ?? line.value
                case 4 where same(name, "date"): date = date ?? line.value
                case 4 where same(name, "etag"): entityTag = entityTag ?? line.value
                case 4 where same(name, "vary"): vary.append(line.value)
                case 7 where same(name, "expires"): expires = expires ?? line.value
                case 13 where same(name, "cache-control"): control.add(line.value)
                case 13 where same(name, "last-modified"): lastModified = lastModified ?? line.value
                case 16 where same(name, "content-encoding"):
                    hasContentCoding = !HTTPFields.same(line.value, "identity")
                default: break
                }
            }
        }
    }

    private func same(_ name: UnsafeBufferPointer<UInt8>, _ known: StaticString) -> Bool {
        sameName(name, UnsafeBufferPointer(start: known.utf8Start, count: known.utf8CodeUnitCount))
    }

    /// Whether nothing of the response may be kept or used again (RFC 9111 §5.2.2.5), taking into account that
    /// `must-understand` takes the place of `no-store` where the status is understood (§5.2.2.3).
    func forbidsStoring(status: Int) -> Bool {
        let understood = understoodStatuses.contains(status)
        if control.contains(.mustUnderstand) { return !understood }
        return control.contains(.noStore)
    }

    /// Whether it must not be used without validation, stale or fresh (§5.2.2.4).
    var mustBeValidated: Bool { control.contains(.noCache) }

    /// Whether it must not be used when stale (§4.2.4).
    var mustNotBeStale: Bool { control.contains(.noCache) || control.contains(.mustRevalidate) }
}

/// The final status codes whose caching this cache implements: those of RFC 9110 and RFC 6585.
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
