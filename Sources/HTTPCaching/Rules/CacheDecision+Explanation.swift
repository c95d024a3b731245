/// Why a verdict is what it is, as one clause.
package enum Explanation: Hashable, Sendable {
    case fresh(Freshness)
    case stale(Freshness)
    case staleAllowed(Freshness, Permission)
    case mustBeValidated(Freshness, Demand)
    case policy(CachePolicy)
    case requestForbidsStored
    case method
    case nothingStored
    case nothingMatches
    case incomplete
    case conditional
    case mismatch
    case notHTTP

    /// What lets a stale response be used.
    package enum Permission: String, Hashable, Sendable {
        case maxStale = "max-stale"
        case staleWhileRevalidate = "stale-while-revalidate"
        case staleIfError = "stale-if-error"
        case disconnected = "no answer from the server"
    }

    /// What asks for validation although a response is fresh.
    package enum Demand: String, Hashable, Sendable {
        case responseNoCache = "the response says no-cache"
        case requestNoCache = "the request says no-cache"
        case requestMaxAge = "the request says max-age"
        case requestMinFresh = "the request says min-fresh"
        case policy = "the cache policy asks for it"
    }
}

extension Explanation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fresh(let freshness): return "fresh: \(freshness)"
        case .stale(let freshness): return "stale: \(freshness)"
        case .staleAllowed(let freshness, let permission):
            return "stale: \(freshness), allowed by \(permission.rawValue)"
        case .mustBeValidated(let freshness, let demand): return "to be validated: \(demand.rawValue), \(freshness)"
        case .policy(let policy): return policy.clause
        case .requestForbidsStored: return "the request says no-store, or has conditions for the origin server"
        case .method: return "the method is not answered from a cache"
        case .nothingStored: return "nothing is stored"
        case .nothingMatches: return "what is stored is for other request fields"
        case .incomplete: return "a part is stored"
        case .conditional: return "the request validates a response of its own"
        case .mismatch: return "what was asked about does not match what the server has"
        case .notHTTP: return "the URL is not one of HTTP"
        }
    }
}

extension Freshness: CustomStringConvertible {
    package var description: String {
        age == .infinity
            ? "stored in the future of this clock"
            : "age \(age.wholeSeconds) s of \(lifetime.wholeSeconds) s (\(rule.rawValue))"
    }
}

extension CachePolicy {
    fileprivate var clause: String {
        switch self {
        case .useProtocol: return "as the protocol says"
        case .reloadIgnoringLocal: return "the cache policy ignores what is stored"
        case .reloadIgnoringLocalAndRemote: return "the cache policy ignores what is stored, here and on the way"
        case .returnCacheElseLoad, .returnCacheDontLoad:
            return "the cache policy takes what is stored, whatever its age"
        case .reloadRevalidating: return "the cache policy asks for validation"
        }
    }
}
