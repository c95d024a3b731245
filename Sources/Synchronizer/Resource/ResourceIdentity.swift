import Foundation
import HTTPCaching

/// A request, and the key by which its loads are coalesced: method, URL, headers and cache policy.
///
/// A load sends exactly the request of its identity. So the response to one credential is never kept under another, even if
/// ``Resource/request()`` returns another credential with each call.
///
/// Creating an identity takes longer than a memory lookup, so a resource that is loaded often keeps its own. See
/// ``Resource/identity``.
public struct ResourceIdentity: Sendable {
    /// A class, because identities are copied much more often than they are created.
    private final class Content: Sendable {
        let request: URLRequest
        let coalescingKey: CoalescingKey?
        let cacheKey: CacheKey?

        init(request: URLRequest, cacheKey: CacheKey?) {
            self.request = request
            self.cacheKey = cacheKey
            coalescingKey = CoalescingKey(request, body: cacheKey?.digest(of: request))
        }
    }

    private let content: Content

    /// The request to send.
    package var request: URLRequest { content.request }
    /// The key for coalescing; nil for a request that is never coalesced.
    var coalescingKey: CoalescingKey? { content.coalescingKey }
    /// Nil if the request has no body, or may change something.
    var cacheKey: CacheKey? { content.cacheKey }

    /// Creates the identity of a request, which loads send. A `QUERY` has the key ``CacheKey/body``.
    public init(_ request: URLRequest) {
        self.init(request, cacheKey: request.httpMethod == "QUERY" ? .body : nil)
    }

    /// Creates the identity of a request with a body. Its response may answer later requests with the same key.
    public init(_ request: URLRequest, cacheKey: CacheKey) {
        self.init(request, cacheKey: Optional(cacheKey))
    }

    /// As ``init(_:cacheKey:)``, or ``init(_:)`` without a key.
    init(_ request: URLRequest, keyIfAny cacheKey: CacheKey?) {
        if let cacheKey { self.init(request, cacheKey: cacheKey) } else { self.init(request) }
    }

    init(_ request: URLRequest, cacheKey: CacheKey?) {
        var request = request
        if let url = request.url, !url.isPlainHTTP { request.url = url.withLowercaseScheme }
        content = Content(request: request, cacheKey: cacheKey)
    }

    /// Nil for a request that bypasses the memory cache.
    var memoryCachePolicy: MemoryCachePolicy? { coalescingKey?.memoryCachePolicy }

    /// The same request for another URL. As after a redirect, another origin gets no credentials.
    func moved(to url: URL) -> ResourceIdentity {
        guard let old = request.url, url != old else { return self }
        var request = request
        request.url = url
        if !CacheRules.sameOrigin(old.absoluteString, url.absoluteString) {
            for name in (request.allHTTPHeaderFields ?? [:]).keys where CacheRules.isForOneOrigin(name) {
                request.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return ResourceIdentity(request, cacheKey: cacheKey)
    }

    /// The same identity, with the default policy if the request does not set one.
    func settingDefault(_ policy: URLRequest.CachePolicy) -> ResourceIdentity {
        guard policy != .useProtocolCachePolicy, request.cachePolicy == .useProtocolCachePolicy else { return self }
        var request = request
        request.cachePolicy = policy
        return ResourceIdentity(request, cacheKey: cacheKey)
    }
}

extension ResourceIdentity: Equatable {
    /// Whether loads of both are coalesced. On Linux, `URLRequest` itself does not compare headers.
    public static func == (one: ResourceIdentity, other: ResourceIdentity) -> Bool {
        guard let coalescingKey = one.coalescingKey else {
            return other.coalescingKey == nil && one.request == other.request
                && one.request.allHTTPHeaderFields == other.request.allHTTPHeaderFields
                && one.request.httpBody == other.request.httpBody
        }
        return coalescingKey == other.coalescingKey && one.request.cachePolicy == other.request.cachePolicy
    }
}
