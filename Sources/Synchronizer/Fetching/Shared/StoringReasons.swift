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

/// Why the last response to each request was not stored, for the trace of the next load. Remembers a thousand requests.
final class StoringReasons: Sendable {
    /// Requests with other methods or bodies have responses of their own.
    private struct Key: Hashable {
        let url: String
        let method: String
        let bodyKey: String?

        init(_ request: CacheRequest) {
            (url, method, bodyKey) = (request.url, request.method, request.bodyKey)
        }

        init(url: String) {
            (self.url, method, bodyKey) = (url, "GET", nil)
        }
    }

    private static let limit = 1_000
    private let reasons = Locked(LRUList<Key, ResponseStoring.Reason>())

    /// Nil if the last response was stored, or is not known.
    func reason(for request: CacheRequest) -> ResponseStoring.Reason? { reasons.withLock { $0[Key(request)] } }

    func note(_ storing: ResponseStoring?, for request: CacheRequest) { note(storing, as: Key(request)) }

    /// Notes that the response to a `GET` was removed.
    func noteRemoval(of url: String, because reason: ResponseStoring.Reason) {
        note(.notStored(reason), as: Key(url: url))
    }

    private func note(_ storing: ResponseStoring?, as key: Key) {
        reasons.withLock { reasons in
            switch storing {
            case .notStored(let reason)?: reasons.insert(reason, for: key)
            case .stored?: if reasons.count > 0 { reasons.remove(key) }
            case nil: break
            }
            if reasons.count > Self.limit, let oldest = reasons.leastRecentlyUsed { reasons.remove(oldest) }
        }
    }

    func removeAll() { reasons.withLock { $0 = LRUList() } }
}

extension LoadTrace {
    /// Sets the reason. If nothing usable is stored, adds why the last response was not stored.
    mutating func explain(_ explanation: Explanation, previously reason: ResponseStoring.Reason?) {
        explain(explanation)
        if explanation == .nothingStored || explanation == .method { addReason(previously: reason) }
    }

    /// Adds why the last response was not stored.
    mutating func addReason(previously reason: ResponseStoring.Reason?) {
        guard let reason else { return }
        self.reason += (self.reason.isEmpty ? "" : "; ") + "the last response was not stored: \(reason.rawValue)"
    }
}
