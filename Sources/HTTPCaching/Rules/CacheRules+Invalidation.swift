extension CacheRules {
    /// The cache keys that a response invalidates (RFC 9111 §4.4): after a non-error response to a method that is not known
    /// to be safe, those of the target URI and of `Location` and `Content-Location` on the same origin.
    package static func invalidatedKeys(after request: CacheRequest, status: Int, fields: HTTPFields) -> [String] {
        guard !safeMethods.contains(request.method), !request.isReusable, (200..<400).contains(status) else {
            return []
        }
        var keys = [request.url]
        for name in [FieldName.location, FieldName.contentLocation] {
            guard let reference = fields.reference(name), let target = resolve(reference, against: request.url) else {
                continue
            }
            let key = cacheKey(of: target.absoluteString)
            if sameOrigin(key, request.url), !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// The methods registered as safe with the IANA.
    private static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI",
    ]
}
