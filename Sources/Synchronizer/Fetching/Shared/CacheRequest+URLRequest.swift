import Foundation
import HTTPCaching

extension CacheRequest {
    /// - Parameter sessionHeaders: the headers that the session adds to the request.
    init(_ request: URLRequest, url: URL, sessionHeaders: [String: String], isOffline: Bool, body: String? = nil) {
        self.init(
            url: CacheRules.cacheKey(of: url.absoluteString), method: request.httpMethod ?? "GET",
            fields: HTTPFields(of: request), sessionHeaders: HTTPFields(sessionHeaders),
            policy: isOffline ? .offline : CachePolicy(request.cachePolicy))
        // After a redirect the request may be a GET without the body.
        if let body, !["GET", "HEAD"].contains(method) { self = reusable(for: body) }
    }
}

extension CachePolicy {
    init(_ policy: URLRequest.CachePolicy) {
        switch policy {
        case .useProtocolCachePolicy: self = .useProtocol
        case .reloadIgnoringLocalCacheData: self = .reloadIgnoringLocal
        case .reloadIgnoringLocalAndRemoteCacheData: self = .reloadIgnoringLocalAndRemote
        case .returnCacheDataElseLoad: self = .returnCacheElseLoad
        case .returnCacheDataDontLoad: self = .returnCacheDontLoad
        case .reloadRevalidatingCacheData: self = .reloadRevalidating
        @unknown default: self = .useProtocol
        }
    }

    /// Whether a lookup could hit.
    var looksUp: Bool { self != .reloadIgnoringLocal && self != .reloadIgnoringLocalAndRemote }
}
