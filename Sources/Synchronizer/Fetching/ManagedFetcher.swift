import Foundation
import HTTPCaching

/// Gets responses as RFC 9111 says: out of a store where that is right, else from the network, and keeps what may be
/// kept. The rules are in HTTPCaching; here they are carried out.
package final class ManagedFetcher: Fetching {
    let transport: any Transport
    /// The store, behind what is kept of interrupted transfers.
    let store: InterruptedTransfers
    let time: any TimeSource
    let rules: CacheRules
    /// The stored responses that are being validated in the background, and who waits for that.
    private let refreshing = Locked<[Int64: [RefreshEnded]]>([:])

    typealias RefreshEnded = @Sendable (Result<Fetched, SynchronizerError>) -> Void

    package init(
        transport: any Transport, store: (any ResponseStore)?, time: any TimeSource, rules: CacheRules = CacheRules()
    ) {
        self.transport = transport
        self.store = InterruptedTransfers(before: store)
        self.time = time
        self.rules = rules
    }

    package func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let fetch = ManagedFetch(self, options, mayUseNetwork: false, receive: receive)
        fetch.visit(request, LoadTrace())
        return fetch
    }

    package func removeStored(for request: URLRequest) {
        guard let url = request.url else { return }
        store.removeEntries(for: cacheKey(of: url.absoluteString))
    }

    package func removeAllStored() {
        store.removeAll()
    }

    /// Looks up what is stored, and judges. What is too large for the caller counts as absent: it is not read.
    func hop(for request: URLRequest, _ url: URL, _ trace: LoadTrace, _ options: FetchOptions) -> Hop {
        let cacheRequest = CacheRequest(request, url: url, impliedFields: transport.impliedFields(for: request))
        let isLookedUp = cacheRequest.policy.looksUp && ["GET", "HEAD"].contains(cacheRequest.method)
        let entries = isLookedUp ? store.entries(for: cacheRequest.url) : []
        let acceptable = entries.filter { $0.bodySize <= options.maximumBodySize }
        let verdict = rules.verdict(for: cacheRequest, among: acceptable.map(\.candidate), at: time.now)
        return Hop(
            request: request, url: url, cacheRequest: cacheRequest, entries: acceptable, verdict: verdict, trace: trace)
    }

    /// Validates a stored response in the background, once for all who used it meanwhile (RFC 5861 §3). It goes on
    /// when those who asked have gone. Whoever wants to hear of its end gives `ended`.
    func refresh(
        _ selection: Selection, of hop: Hop, _ fields: HTTPFields, _ options: FetchOptions, ended: RefreshEnded? = nil
    ) {
        let id = hop.entries[selection.index].id
        let isFirst = refreshing.withLock { refreshing in
            let isFirst = refreshing[id] == nil
            refreshing[id, default: []] += [ended].compactMap { $0 }
            return isFirst
        }
        guard isFirst else { return }
        let fetch = ManagedFetch(self, options, mayUseNetwork: true) { [self] event in
            guard case .finished(let result) = event else { return }
            let waiting = refreshing.withLock { $0.removeValue(forKey: id) } ?? []
            waiting.forEach { $0(result) }
        }
        fetch.act(on: hop.refreshing(selection, fields))
    }
}

extension Hop {
    /// The same request as a plain `GET` that validates the selected response.
    fileprivate func refreshing(_ selection: Selection, _ fields: HTTPFields) -> Hop {
        var request = request
        var cacheRequest = cacheRequest
        for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since"] {
            request.setValue(nil, forHTTPHeaderField: name)
            cacheRequest.fields.remove(name)
        }
        request.httpMethod = "GET"
        cacheRequest.method = "GET"
        return Hop(
            request: request, url: url, cacheRequest: cacheRequest, entries: entries,
            verdict: fields.isEmpty
                ? .forward(fields, fallback: nil, selection.explanation) : .validate(selection, fields),
            trace: trace)
    }
}
