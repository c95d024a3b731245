import Foundation
import HTTPCaching

/// The session's `URLCache` as native fetches see it: lookups before a request is sent, removals, and invalidations.
final class NativeCache: Sendable {
    let rules = CacheRules()
    let time: any TimeSource
    let invalidations: InvalidationLog
    let reasons = StoringReasons()
    private let cache: URLCache?
    /// The cache as a store of this package. `NativeCache` notes invalidations itself, so it removes entries through the store,
    /// whose methods do not note them again.
    private let store: (any ResponseStore)?
    private let removals = PendingRemovals()
    let removing = DispatchQueue(label: "Synchronizer.removing", qos: .userInitiated)

    init(_ cache: URLCache?, time: any TimeSource) {
        self.cache = cache
        store = cache as? any ResponseStore
        invalidations = store?.invalidations ?? cache.map(InvalidationLog.shared) ?? InvalidationLog()
        self.time = time
    }

    /// What the cache has for a request. May block on the disk.
    func lookUp(_ request: CacheRequest, for urlRequest: URLRequest, limit: Int) -> NativeLookup {
        let removal = removals.last(of: request.url)  // first: only a later miss shows that the response is gone
        let isRemoved = removal != nil
        let looksUp = request.policy.looksUp && request.method == "GET"
        let found = looksUp ? cache?.cachedResponse(for: urlRequest) : nil
        if let removal, looksUp {
            if found != nil { reasons.noteRemoval(of: .init(url: request.url), because: .invalidated) }
            found == nil ? removals.end(request.url, upTo: removal) : removeSoon(urlRequest, key: request.url)
        }
        let entry = isRemoved ? nil : found.flatMap { NativeEntry($0, for: request, limit: limit, at: time.now) }
        let candidates = entry.map { [Candidate($0.response, bodySize: $0.body.count)] } ?? []
        let decision = rules.decision(for: request, among: candidates, at: time.now)
        return NativeLookup(
            decision: decision, entry: entry, hasUnusable: isRemoved || (found != nil && entry == nil))
    }

    // MARK: - Removing

    func remove(for request: URLRequest) {
        guard let key = request.cacheKey else { return }
        invalidations.note([key], at: time.now)
        remove(request, key: key)
    }

    func removeSoon(for requests: [URLRequest]) {
        reasons.noteInvalidation(of: requests.compactMap(\.cacheKey))
        guard cache != nil else { return }
        invalidations.note(requests.compactMap(\.cacheKey), at: time.now)
        removeNoted(requests)
    }

    /// The same for entries that a response invalidates. Returns the new mark of its request: with this mark, the response itself
    /// may still be stored.
    func removeSoon(
        for requests: [URLRequest], keeping mark: InvalidationLog.Mark, of key: String
    ) -> InvalidationLog.Mark {
        reasons.noteInvalidation(of: requests.compactMap(\.cacheKey))
        guard cache != nil else { return mark }
        let mark = invalidations.note(requests.compactMap(\.cacheKey), at: time.now, keeping: mark, of: key)
        removeNoted(requests)
        return mark
    }

    private func removeNoted(_ requests: [URLRequest]) {
        for request in requests { if let key = request.cacheKey { removeSoon(request, key: key) } }
    }

    func removeAll() {
        invalidations.noteEverything(at: time.now)
        reasons.removeAll()
        if let store { store.removeAll() } else { cache?.removeAllCachedResponses() }
    }

    /// As ``removeSoon(for:)``, but responses in flight may be stored.
    func removeSoon(_ request: URLRequest, key: String) {
        removals.add([key])
        removing.async { [self] in remove(request, key: key) }
    }

    /// Apple's cache may remove a response a little later; until then lookups ignore it.
    private func remove(_ request: URLRequest, key: String) {
        guard let cache else { return }
        let removal = removals.last(of: key)
        let isStored = store.map { !$0.responses(of: key).isEmpty } ?? (cache.cachedResponse(for: request) != nil)
        if isStored { reasons.noteRemoval(of: .init(url: key), because: .invalidated) }
        if let store { store.removeEntries(for: key) } else { cache.removeCachedResponse(for: request) }
        guard cache.cachedResponse(for: request) == nil else { return removals.add([key]) }
        if let removal { removals.end(key, upTo: removal) }
    }
}

/// What a lookup in the session's cache found, and how to send the request because of it.
struct NativeLookup {
    enum Plan {
        case refuse(Explanation)
        /// The cache certainly answers: send the request without access to the network.
        case cacheOnly
        /// Let the session decide.
        case send
        /// The session could use a response that it must not use: send the request so that it ignores its cache.
        case ignoreCache
    }

    let plan: Plan
    /// The entry that answers, or may be shown while the server validates it.
    let usable: (selection: Selection, entry: NativeEntry)?

    init(decision: CacheDecision, entry: NativeEntry?, hasUnusable: Bool) {
        if case .refuse(let reason) = decision {
            plan = .refuse(reason)
        } else if decision.isCertainHit {
            plan = .cacheOnly
        } else {
            plan = hasUnusable ? .ignoreCache : .send
        }
        let selection = decision.selection
        usable = entry.flatMap { entry in selection.map { ($0, entry) } }
    }
}

extension CacheDecision {
    /// Whether the session certainly uses the stored response, too. The session may estimate heuristic lifetimes differently, so
    /// only explicit lifetimes and the cache policy count.
    fileprivate var isCertainHit: Bool {
        guard case .reuse(let selection) = self, selection.answer == .stored else { return false }
        switch selection.explanation {
        case .policy: return true
        case .fresh(let freshness): return [.maxAge, .expires, .injected].contains(freshness.rule)
        default: return false
        }
    }

    /// The stored response that answers, or would if the server confirmed it.
    fileprivate var selection: Selection? {
        switch self {
        case .validate(let selection, _), .reuseWhileRevalidating(let selection, _), .reuse(let selection):
            return selection
        case .forward(_, let fallback, _): return fallback
        case .complete, .refuse: return nil
        }
    }
}

/// A response from the session's cache that the request's fields select.
struct NativeEntry {
    let response: StoredResponse
    let body: Data

    /// Nil if the response is for other requests, or if that is not known, as with a response to a range or a condition.
    init?(_ cached: CachedURLResponse, for request: CacheRequest, limit: Int, at now: Date) {
        guard let head = cached.response as? HTTPURLResponse, head.statusCode != 206,
            !CacheRules.answersCondition(head.statusCode), cached.data.count <= limit
        else { return nil }
        let (header, fields) = CacheBindingHeader.split(HTTPFields(of: head))
        // A response without the header was stored by other code, and does not tell which request it answered.
        guard header?.matches(request, fields: fields) ?? !fields.contains(FieldName.vary) else { return nil }
        let date = Self.date(of: fields, at: now)
        let selecting = CacheRules.selectingFields(of: request, for: fields)
        let response = StoredResponse(
            url: request.url, method: "GET", selectingFields: header == nil ? HTTPFields() : selecting,
            status: head.statusCode, fields: fields, requestTime: date, responseTime: date,
            injectedCacheControl: header?.injected)
        guard CacheRules.selects(response, for: request), header != nil || selecting.isEmpty else { return nil }
        self.response = response
        body = cached.data
    }

    /// The `Date` of a stored response, the only known time of its arrival; without one it is stale.
    static func date(of fields: HTTPFields, at now: Date) -> Date {
        fields[FieldName.date].flatMap { HTTPDate.parse($0, at: now) } ?? .distantPast
    }
}
