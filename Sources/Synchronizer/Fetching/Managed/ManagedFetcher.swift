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
    let invalidations = InvalidationLog()
    private let removals = PendingRemovals()
    private let removing = DispatchQueue(label: "Synchronizer.removing", qos: .userInitiated)
    private let refreshes = BackgroundRefreshes()

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
        let fetch = ManagedFetch(self, options, mayUseNetwork: options.skipsLookUp, receive: receive)
        fetch.visit(request, LoadTrace(), among: options.skipsLookUp ? [] : nil)
        return fetch
    }

    package func removeStored(for request: URLRequest) {
        guard let url = request.url else { return }
        store.removeEntries(for: cacheKey(of: url.absoluteString))
    }

    package func removeStoredSoon(for requests: [URLRequest]) {
        let keys = requests.compactMap { $0.url.map { cacheKey(of: $0.absoluteString) } }
        invalidations.note(keys)
        removals.add(keys)
        removing.async { [self] in keys.forEach(remove) }
    }

    /// Has a removal done that waits, if there is one, before something new is stored under its key.
    func finishRemoval(of key: String) {
        if removals.contains(key) { removing.sync { remove(key) } }
    }

    private func remove(_ key: String) {
        guard removals.contains(key) else { return }  // done, and what is stored now is new
        store.removeEntries(for: key)
        removals.end(key)
    }

    package func sessionCookies(for request: URLRequest) -> String? { transport.sessionCookies(for: request) }

    package func removeAllStored() {
        invalidations.noteEverything()
        store.removeAll()
    }

    /// Looks up what is stored, unless `entries` are given, and judges; nil for a request that must not be sent. What is
    /// too large for the caller counts as absent: it is not read.
    func hop(
        for request: URLRequest, _ trace: LoadTrace, _ options: FetchOptions, among entries: [StoredEntry]? = nil
    ) -> Hop? {
        guard let url = request.url else { return nil }
        let cacheRequest = CacheRequest(request, url: url, impliedFields: transport.impliedFields(for: request))
        guard cacheRequest.isWellFormed else { return nil }
        let entries = entries ?? entriesToLookAt(for: cacheRequest)
        let isAcceptable = { (entry: StoredEntry) in entry.bodySize <= options.maximumBodySize }
        let acceptable = entries.allSatisfy(isAcceptable) ? entries : entries.filter(isAcceptable)
        let verdict = rules.verdict(for: cacheRequest, among: acceptable.map(\.candidate), at: time.now)
        return Hop(
            request: request, url: url, cacheRequest: cacheRequest, entries: acceptable, verdict: verdict, trace: trace)
    }

    /// Whether the session would still add the fields to a request with which its hop was judged.
    func sendsSameFields(with hop: Hop) -> Bool {
        let fields = HTTPFields(transport.impliedFields(for: hop.request))
        return Set(fields.lines) == Set(hop.cacheRequest.impliedFields.lines)
    }

    private func entriesToLookAt(for request: CacheRequest) -> [StoredEntry] {
        guard request.policy.looksUp, ["GET", "HEAD"].contains(request.method), !removals.contains(request.url)
        else { return [] }
        return store.entries(for: request.url)
    }

    /// Validates a stored response in the background, once for all who used it meanwhile. Whoever wants to hear of its
    /// end, and has a turn on the network for it, gives a listener.
    func refresh(
        _ selection: Selection, of hop: Hop, _ fields: HTTPFields, _ options: FetchOptions,
        listener: BackgroundRefreshes.Ended? = nil
    ) {
        let entry = hop.entries[selection.index].id
        let key = BackgroundRefreshes.Key(entry: entry, maximumBodySize: options.maximumBodySize)
        refreshes.add(key, listener: listener) { [self, hop = hop.withoutBodies()] in
            let options = FetchOptions(maximumBodySize: options.maximumBodySize)
            let fetch = ManagedFetch(self, options, mayUseNetwork: true) { [refreshes] event in
                if case .finished(let result) = event { refreshes.hasEnded(key, result) }
            }
            fetch.goOn(with: hop.refreshing(selection, fields))
        }
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
