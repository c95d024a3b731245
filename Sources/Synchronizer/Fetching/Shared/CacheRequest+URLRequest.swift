import Foundation
import HTTPCaching

extension CacheRequest {
    /// A request as the cache sees it.
    init(_ request: URLRequest, url: URL, impliedFields: [String: String]) {
        self.init(
            url: cacheKey(of: url.absoluteString), method: request.httpMethod ?? "GET", fields: HTTPFields(of: request),
            impliedFields: HTTPFields(impliedFields), policy: CachePolicy(request.cachePolicy))
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

    /// Whether a look-up could find something to use.
    var looksUp: Bool { self != .reloadIgnoringLocal && self != .reloadIgnoringLocalAndRemote }
}
