import Foundation
import HTTPCaching

/// Leaves the cache to `URLSession`, which finds, validates and stores by itself, and looks after what it is not known to
/// see to: that nobody gets another's answer, and that what was made invalid is not used again.
///
/// `URLSession` finds by URL. So it is written into each response that it stores for whose requests it is
/// (``StoredMark``), and what is stored is looked at before a request is sent: if it is for others, or was made invalid,
/// the request goes out with a policy that ignores it.
package final class NativeFetcher: Fetching {
    let transport: any NativeTransport
    let time: any TimeSource
    /// What the session's delegate puts into responses.
    let injection: LifetimeInjection
    let rules = CacheRules()
    let invalidations = InvalidationLog()
    private let cache: URLCache?
    private let removals = PendingRemovals()
    let removing = DispatchQueue(label: "Synchronizer.removing", qos: .userInitiated)

    /// - Parameters:
    ///   - transport: its session is to have this cache.
    package init(
        transport: any NativeTransport, cache: URLCache?, time: any TimeSource,
        injection: LifetimeInjection = LifetimeInjection(cacheTime: nil)
    ) {
        self.transport = transport
        self.cache = cache
        self.time = time
        self.injection = injection
    }

    package func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let fetch = NativeFetch(self, request, options, receive: receive)
        fetch.start()
        return fetch
    }

    package func sessionCookies(for request: URLRequest) -> String? { transport.sessionCookies(for: request) }

    // MARK: - Removing

    package func removeStored(for request: URLRequest) {
        guard let key = request.url.map({ cacheKey(of: $0.absoluteString) }) else { return }
        invalidations.note([key])
        remove(request, key)
    }

    package func removeStoredSoon(for requests: [URLRequest]) {
        guard cache != nil else { return }
        let keyed = requests.compactMap { request in
            request.url.map { (key: cacheKey(of: $0.absoluteString), request: request) }
        }
        invalidations.note(keyed.map(\.key))
        for (key, request) in keyed { removeSoon(request, key) }
    }

    package func removeAllStored() {
        invalidations.noteEverything()
        cache?.removeAllCachedResponses()
    }

    /// Apple's cache may remove a little later: until it has, nothing that it finds is used.
    private func remove(_ request: URLRequest, _ key: String) {
        guard let cache else { return }
        cache.removeCachedResponse(for: request)
        if cache.cachedResponse(for: request) == nil { removals.end(key) } else { removals.add([key]) }
    }

    /// As ``removeStoredSoon(for:)``, but of what is there already: what is under way may be stored.
    func removeSoon(_ request: URLRequest, _ key: String) {
        removals.add([key])
        removing.async { [self] in remove(request, key) }
    }

    // MARK: - Looking up

    /// What the cache says to a request. May block on the disk.
    func lookUp(_ request: CacheRequest, _ urlRequest: URLRequest, limit: Int) -> NativeLookUp {
        let found = request.policy.looksUp && request.method == "GET" ? cache?.cachedResponse(for: urlRequest) : nil
        let isRemoved = removals.contains(request.url)
        if isRemoved { found == nil ? removals.end(request.url) : removeSoon(urlRequest, request.url) }
        let usable = isRemoved ? nil : found.flatMap { Stored($0, for: request, limit: limit, at: time.now) }
        let candidates = usable.map { [Candidate($0.response, bodySize: $0.body.count)] } ?? []
        return NativeLookUp(
            verdict: rules.verdict(for: request, among: candidates, at: time.now), stored: usable,
            isToBeIgnored: isRemoved || (found != nil && usable == nil))
    }

    func cacheRequest(_ request: URLRequest, _ url: URL) -> CacheRequest {
        CacheRequest(request, url: url, impliedFields: transport.impliedFields(for: request))
    }

    func cacheRequest(of request: URLRequest) -> CacheRequest? { request.url.map { cacheRequest(request, $0) } }
}

/// What the session's cache has for a request.
struct NativeLookUp {
    let verdict: Verdict
    /// Nil if nothing is stored that may be used for the request.
    let stored: NativeFetcher.Stored?
    /// Whether the session might find something that must not be used.
    let isToBeIgnored: Bool

    /// Whether the stored response answers as it is, also as the session sees it: it may guess lifetimes otherwise.
    var isCertainHit: Bool {
        guard case .reuse(let selection) = verdict, selection.answer == .stored else { return false }
        switch selection.explanation {
        case .policy: return true
        case .fresh(let freshness): return [.maxAge, .expires, .injected].contains(freshness.rule)
        default: return false
        }
    }
}

extension NativeFetcher {
    /// A response out of the session's cache that may be used for a request, as far as the request's fields go.
    struct Stored {
        let response: StoredResponse
        let body: Data

        /// Nil if it is for other requests, or if that cannot be known.
        init?(_ cached: CachedURLResponse, for request: CacheRequest, limit: Int, at now: Date) {
            guard let head = cached.response as? HTTPURLResponse, head.statusCode != 206, cached.data.count <= limit
            else { return nil }
            let (mark, fields) = StoredMark.taken(outOf: HTTPFields(of: head))
            // What somebody else has stored says nothing of its request.
            guard mark?.isFor(request, fields) ?? !fields.contains("Vary") else { return nil }
            let date = Self.generated(fields, at: now)
            let response = StoredResponse(
                url: request.url, method: "GET",
                selectingFields: mark == nil ? HTTPFields() : SelectingFields.of(request, for: fields),
                status: head.statusCode, fields: fields, requestTime: date, responseTime: date,
                injectedCacheControl: mark?.injected)
            guard SelectingFields.match(request, response),
                mark != nil || SelectingFields.of(request, for: fields).isEmpty
            else { return nil }
            self.response = response
            body = cached.data
        }

        /// When a stored response was made, which is all that is known of when it came; without a date it is stale.
        static func generated(_ fields: HTTPFields, at now: Date) -> Date {
            fields["Date"].flatMap { HTTPDate.parse($0, at: now) } ?? .distantPast
        }
    }
}
