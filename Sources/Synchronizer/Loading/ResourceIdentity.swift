import Foundation

/// What tells a request from others as far as sharing goes: by its method, URL, fields and cache policy.
///
/// Making one takes longer than looking an object up in memory; a resource that is asked for often keeps its own. See
/// ``Resource/identity``.
public struct ResourceIdentity: Sendable {
    /// Nil for a request that shares with nobody.
    let request: RequestIdentity?
    /// Nil for a request that must not be answered with an object from memory.
    let memoryUse: MemoryUse?

    /// The identity of a request.
    public init(_ request: URLRequest) {
        self.request = RequestIdentity(request)
        memoryUse = MemoryUse(request)
    }
}

/// Whether a request may be answered with an object from memory.
enum MemoryUse: Sendable {
    case whileFresh
    /// The cache policy takes what is there, whatever its age.
    case ofAnyAge

    /// Nil if the answer has to be judged, or fetched, anew.
    init?(_ request: URLRequest) {
        switch request.cachePolicy {
        case .useProtocolCachePolicy: self = .whileFresh
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: self = .ofAnyAge
        default: return nil
        }
        if let fields = request.allHTTPHeaderFields, fields.keys.contains(where: RequestIdentity.callsForJudgement) {
            return nil
        }
    }
}
