/// The names of the fields that the cache reads, writes or removes.
package enum FieldName {
    package static let accept = "Accept"
    package static let acceptCharset = "Accept-Charset"
    package static let acceptEncoding = "Accept-Encoding"
    package static let acceptLanguage = "Accept-Language"
    package static let acceptRanges = "Accept-Ranges"
    package static let age = "Age"
    package static let authorization = "Authorization"
    package static let cacheControl = "Cache-Control"
    package static let connection = "Connection"
    package static let contentEncoding = "Content-Encoding"
    package static let contentLanguage = "Content-Language"
    package static let contentLength = "Content-Length"
    package static let contentLocation = "Content-Location"
    package static let contentRange = "Content-Range"
    package static let contentType = "Content-Type"
    /// The digest of a request's body. It is never sent: it only takes part in selecting a stored response. It counts as a
    /// credential, so that the response answers no request without the same digest.
    package static let bodyKey = "X-Synchronizer-Body-Key"
    package static let cookie = "Cookie"
    package static let date = "Date"
    package static let entityTag = "ETag"
    package static let expect = "Expect"
    package static let expires = "Expires"
    package static let host = "Host"
    package static let ifMatch = "If-Match"
    package static let ifModifiedSince = "If-Modified-Since"
    package static let ifNoneMatch = "If-None-Match"
    package static let ifRange = "If-Range"
    package static let ifUnmodifiedSince = "If-Unmodified-Since"
    package static let keepAlive = "Keep-Alive"
    package static let lastModified = "Last-Modified"
    package static let location = "Location"
    package static let pragma = "Pragma"
    package static let proxyAuthenticate = "Proxy-Authenticate"
    package static let proxyAuthenticationInfo = "Proxy-Authentication-Info"
    package static let proxyAuthorization = "Proxy-Authorization"
    package static let proxyConnection = "Proxy-Connection"
    package static let range = "Range"
    package static let retryAfter = "Retry-After"
    package static let trailer = "Trailer"
    package static let transferCodings = "TE"
    package static let transferEncoding = "Transfer-Encoding"
    package static let upgrade = "Upgrade"
    package static let vary = "Vary"

    /// Names that are compared byte by byte, in lower case.
    enum Bytes {
        static let cacheControl: StaticString = "cache-control"
        static let contentEncoding: StaticString = "content-encoding"
        static let vary: StaticString = "vary"
    }

    /// Describe the body of a message (RFC 9110 §8).
    static let describingBody = [contentLength, contentEncoding, contentRange]

    /// Decide which requests a stored response answers, for how long, and with which bytes (RFC 9111 §3.3, §4.1, §4.2).
    static let deciding = [age, cacheControl, contentEncoding, contentRange, date, expires, vary]

    /// Digests of the content of one message (RFC 9530 §2, RFC 2616 §14.15).
    static let digestingContent = ["Content-Digest", "Content-MD5"]

    /// Belong to one connection or to a proxy, and are not stored (RFC 9111 §3.1).
    static let hopByHop = [
        connection, keepAlive, proxyAuthenticate, proxyAuthenticationInfo, proxyAuthorization, proxyConnection,
        transferCodings, trailer, transferEncoding, upgrade,
    ]
}
