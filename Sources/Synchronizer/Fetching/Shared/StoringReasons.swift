import Foundation
import HTTPCaching

extension ResponseStoring.Reason {
    init(_ objection: StoringObjection) {
        switch objection {
        case .method: self = .method
        case .status: self = .status
        case .requestNoStore: self = .requestNoStore
        case .noStore: self = .noStore
        case .variesOnEverything: self = .variesOnEverything
        case .notCacheable: self = .notCacheable
        }
    }
}

/// Why the last response to each request was not stored, or was removed, for the trace of the next load. Remembers a thousand
/// requests.
final class StoringReasons: Sendable {
    /// Requests with other methods or bodies have responses of their own.
    struct Key: Hashable {
        let url: String
        let method: String
        private let bodyKey: String?

        init(_ request: CacheRequest) {
            (url, method, bodyKey) = (request.url, request.method, request.storedBodyKey)
        }

        init(_ response: StoredResponse) {
            (url, method, bodyKey) = (response.url, response.method, response.bodyKey)
        }

        /// A `GET` of the URL.
        init(url: String) {
            (self.url, method, bodyKey) = (url, "GET", nil)
        }

        /// Whether responses to such requests may be stored, or their objects kept in memory.
        fileprivate var mayBeKept: Bool { method == "GET" || bodyKey != nil }
    }

    private static let limit = 1_000
    private let reasons = Locked(LRUList<Key, ResponseStoring.Reason>())

    /// Nil if the last response was stored, or is not known.
    func reason(for request: CacheRequest) -> ResponseStoring.Reason? { reasons.withLock { $0[Key(request)] } }

    func note(_ storing: ResponseStoring?, for request: CacheRequest) {
        switch storing {
        case .notStored(let reason)?:
            let key = Key(request)
            reasons.withLock { Self.insert(reason, for: key, in: &$0) }
        case .stored?:
            reasons.withLock { reasons in
                if reasons.count > 0 { reasons.remove(Key(request)) }
            }
        case nil: break
        }
    }

    /// Notes that a stored response was removed. If a reason is known for its request, then a later response was not stored, or the
    /// removal was noted before: that reason stays.
    func noteRemoval(of key: Key, because reason: ResponseStoring.Reason) {
        reasons.withLock { reasons in
            if reasons[key] == nil { Self.insert(reason, for: key, in: &reasons) }
        }
    }

    /// Notes that these URLs were invalidated, for the requests with a known reason: memory may have their objects. For requests
    /// with stored responses, see ``noteRemoval(of:because:)``.
    func noteInvalidation(of urls: [String]) {
        if urls.isEmpty { return }
        let urls = Set(urls)
        reasons.withLock { reasons in
            for key in reasons.allKeys where key.mayBeKept && urls.contains(key.url) {
                reasons.insert(.invalidated, for: key)
            }
        }
    }

    private static func insert(
        _ reason: ResponseStoring.Reason, for key: Key, in reasons: inout LRUList<Key, ResponseStoring.Reason>
    ) {
        reasons.insert(reason, for: key)
        if reasons.count > limit, let oldest = reasons.leastRecentlyUsed { reasons.remove(oldest) }
    }

    func removeAll() { reasons.withLock { $0 = LRUList() } }
}

extension LoadTrace {
    /// Sets the reason. If nothing usable is stored, adds why the last response was not stored.
    mutating func explain(_ explanation: Explanation, previously reason: ResponseStoring.Reason?) {
        explain(explanation)
        switch explanation {
        case .nothingStored, .nothingMatches, .method: addReason(previously: reason)
        default: break
        }
    }

    /// Adds why the last response was not stored.
    mutating func addReason(previously reason: ResponseStoring.Reason?) {
        guard let reason else { return }
        self.reason += (self.reason.isEmpty ? "" : "; ") + "the last response was not stored: \(reason.rawValue)"
    }
}
