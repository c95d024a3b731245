/// What an answer makes invalid (RFC 9111 §4.4).
package enum Invalidation {
    /// The keys of the URIs whose stored responses are to be dropped: after a non-error answer to a method that is not
    /// known to be safe the target, and what `Location` and `Content-Location` name on the same origin.
    package static func keys(after request: CacheRequest, status: Int, _ fields: HTTPFields) -> [String] {
        guard !safeMethods.contains(request.method), (200..<400).contains(status) else { return [] }
        var keys = [request.url]
        for name in ["Location", "Content-Location"] {
            guard let reference = fields.reference(name), let target = resolve(reference, against: request.url) else {
                continue
            }
            let key = cacheKey(of: target)
            if sameOrigin(key, request.url), !keys.contains(key) { keys.append(key) }
        }
        return keys
    }

    /// Those of the IANA registry of methods that are registered as safe.
    private static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI",
    ]
}
