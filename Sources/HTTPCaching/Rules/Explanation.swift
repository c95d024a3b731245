/// Why the cache decided as it did, in one clause.
package enum Explanation: Hashable, Sendable {
    case fresh(Freshness)
    case stale(Freshness)
    case staleAllowed(Freshness, Permission)
    case mustBeValidated(Freshness, Demand)
    case policy(CachePolicy)
    case requestNoStore
    case requestConditions
    case method
    case nothingStored
    case nothingMatches
    case incomplete
    case conditional
    case mismatch
    case notHTTP

    /// What allows a stale response.
    package enum Permission: String, Hashable, Sendable {
        case maxStale = "by max-stale"
        case staleWhileRevalidate = "by stale-while-revalidate"
        case staleIfError = "by stale-if-error"
        case disconnected = "while the server is unreachable"
    }

    /// What requires validation of a fresh response.
    package enum Demand: String, Hashable, Sendable {
        case responseNoCache = "the response says no-cache"
        case requestNoCache = "the request says no-cache"
        case requestMaxAge = "the request says max-age"
        case requestMinFresh = "the request says min-fresh"
        case policy = "the cache policy requires it"
    }
}

extension Explanation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fresh(let freshness): return "fresh: \(freshness)"
        case .stale(let freshness): return "stale: \(freshness)"
        case .staleAllowed(let freshness, let permission):
            return "stale: \(freshness), allowed \(permission.rawValue)"
        case .mustBeValidated(let freshness, let demand): return "must be validated: \(demand.rawValue), \(freshness)"
        case .policy(let policy): return policy.clause
        case .requestNoStore: return "the request says no-store"
        case .requestConditions:
            return "the request has If-Match or If-Unmodified-Since, which only the server can judge"
        case .method: return "responses to this method are not cached"
        case .nothingStored: return "nothing is stored"
        case .nothingMatches: return "the stored responses are for other request fields"
        case .incomplete: return "only a part is stored"
        case .conditional: return "the caller validates its own copy"
        case .mismatch: return "the validators do not match the server's representation"
        case .notHTTP: return "the URL is not an HTTP URL"
        }
    }
}

extension CachePolicy {
    fileprivate var clause: String {
        switch self {
        case .useProtocol: return "the protocol decides"
        case .reloadIgnoringLocal: return "the cache policy ignores stored responses"
        case .reloadIgnoringLocalAndRemote: return "the cache policy ignores stored responses, here and on the way"
        case .returnCacheElseLoad, .returnCacheDontLoad:
            return "the cache policy accepts a stored response of any age"
        case .reloadRevalidating: return "the cache policy requires validation"
        case .offline: return "offline, a stored response of any age is accepted"
        }
    }
}
