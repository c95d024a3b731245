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
    /// The request to send.
    package let request: URLRequest
    /// The key for coalescing; nil for a request that is never coalesced.
    let sharing: CoalescingKey?

    /// Creates the identity of a request, which loads send.
    public init(_ request: URLRequest) {
        var request = request
        if let url = request.url, !url.isPlainHTTP { request.url = url.withLowercaseScheme }
        self.request = request
        sharing = CoalescingKey(request)
    }

    /// Nil for a request that bypasses the memory cache.
    var memoryCachePolicy: MemoryCachePolicy? { sharing?.memoryCachePolicy }

    /// The same identity, with the default policy if the request does not set one.
    func settingDefault(_ policy: URLRequest.CachePolicy) -> ResourceIdentity {
        guard policy != .useProtocolCachePolicy, request.cachePolicy == .useProtocolCachePolicy else { return self }
        var request = request
        request.cachePolicy = policy
        return ResourceIdentity(request)
    }
}

extension ResourceIdentity: Equatable {
    /// Whether loads of both are coalesced. On Linux, `URLRequest` itself does not compare headers.
    public static func == (one: ResourceIdentity, other: ResourceIdentity) -> Bool {
        guard let sharing = one.sharing else {
            return other.sharing == nil && one.request == other.request
                && one.request.allHTTPHeaderFields == other.request.allHTTPHeaderFields
                && one.request.httpBody == other.request.httpBody
        }
        return sharing == other.sharing && one.request.cachePolicy == other.request.cachePolicy
    }
}
