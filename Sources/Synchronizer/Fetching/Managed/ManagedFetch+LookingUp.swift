import Foundation
import HTTPCaching

// The first stage: what is stored for a request, and what the rules decide.
extension ManagedFetch {
    /// The step to run; nil for a request that must not be sent.
    func step(from start: Start) -> FetchStep? {
        switch start {
        case .first(let request):
            lookUp(
                request, trace: LoadTrace(),
                headers: context.transport.sessionHeaders(for: request, knowing: options.sessionCookies))
        case .request(let request, let trace, let lifetime): lookUp(request, trace: trace, redirectLifetime: lifetime)
        case .offline(let request, let trace, let lifetime):
            lookUp(request, trace: trace, redirectLifetime: lifetime, isOffline: true)
        // Without the network, the cache is the last resort: another load may have stored a response since the miss.
        case .miss(let request): lookUp(request, trace: LoadTrace(), entries: context.network.isOffline ? nil : [])
        case .step(let step): step
        }
    }

    /// Looks up the entries, unless they are given. Entries that are too large for the caller are ignored, and not read.
    private func lookUp(
        _ request: URLRequest, trace: LoadTrace, redirectLifetime: RedirectLifetime = RedirectLifetime(),
        headers: [String: String]? = nil, entries: [CacheEntry]? = nil, isOffline: Bool = false
    ) -> FetchStep? {
        guard let url = request.url else { return nil }
        switch url.isPlainHTTP ? "http" : url.scheme?.lowercased() {
        case "http", "https":
            let headers = headers ?? context.transport.sessionHeaders(for: request)
            let cacheRequest = CacheRequest(
                request, url: url, sessionHeaders: headers, isOffline: isOffline || context.network.isOffline,
                body: options.body)
            guard cacheRequest.isWellFormed else { return nil }
            let moment = context.refreshes.moment
            let found = entries ?? lookUp(cacheRequest)
            let largest = cacheRequest.method == "HEAD" ? .max : options.maximumBodySize
            let isAcceptable = { (entry: CacheEntry) in entry.bodySize <= largest }
            let acceptable = found.allSatisfy(isAcceptable) ? found : found.filter(isAcceptable)
            let decision = cache.rules.decision(
                for: cacheRequest, among: acceptable.map(\.candidate), at: cache.time.now)
            return FetchStep(
                request: request, url: url, cacheRequest: cacheRequest, lookupMoment: moment, entries: acceptable,
                decision: decision, trace: trace, redirectLifetime: redirectLifetime)
        case "file", "data":
            let headers = HTTPFields(context.transport.sessionHeaders(for: request))
            return FetchStep(
                request: request, url: url,
                cacheRequest: CacheRequest(url: url.absoluteString, sessionHeaders: headers, policy: .offline),
                entries: [],
                decision: .forward(HTTPFields(), fallback: nil, .notHTTP), trace: trace)
        default: return nil
        }
    }

    private func lookUp(_ request: CacheRequest) -> [CacheEntry] {
        places(for: request.url).map { cache.lookUp(request, in: $0) } ?? cache.lookUp(request)
    }
}
