import Foundation
import HTTPCaching

// The fifth stage, continued: what a response does to other entries than its own.
extension ManagedFetch {
    /// Invalidates the entries that an unsafe request has changed (RFC 9111 §4.4). The head of the response suffices: the server
    /// has changed them even if the body is cut short, is too large, or is not wanted any more.
    ///
    /// The head arrives on the session's queue, which must not wait for the disk. So the entries are removed soon; lookups miss
    /// them at once.
    func invalidate(byHeadOf number: Int) {
        let (keys, old, url) = state.withLock { state -> ([String], InvalidationLog.Mark, String) in
            guard let running = state?.running(number) else { return ([], 0, "") }
            return (running.exchange.invalidatedKeys, running.exchange.mark, running.exchange.step.cacheRequest.url)
        }
        guard !keys.isEmpty else { return }
        let mark = cache.removeSoon(keys, keeping: old, of: url)
        state.withLock { $0?.running(number)?.exchange.mark = mark }
        report(.invalidated(keys))
    }

    /// Updates or removes the entries that the response is about, besides its own. No part of a response to a request with
    /// `no-store` is stored (RFC 9111 §5.2.1.5).
    func applySideEffects(of exchange: Exchange) {
        let request = exchange.step.cacheRequest
        let mayStore = !CacheRules.forbidsStoring(request)
        if exchange.received.status == 304, mayStore {
            let entries = siblings(of: exchange)
            let confirmed = CacheRules.candidates(
                confirmedBy: exchange.received.fields, among: entries.map(\.candidate), for: request)
            for index in confirmed { freshen(entries[index], by: exchange) }
        }
        if request.method == "HEAD", exchange.received.status == 200 { applyHead(exchange, mayStore: mayStore) }
    }

    private func applyHead(_ exchange: Exchange, mayStore: Bool) {
        let (request, fields) = (exchange.step.cacheRequest, exchange.received.fields)
        for entry in siblings(of: exchange) {
            switch CacheRules.headUpdates(entry.candidate, by: fields, for: request) {
            case true?: if mayStore { freshen(entry, by: exchange) }
            case false?: invalidate(entry)
            case nil: break
            }
        }
    }

    /// Removes an entry that the server has shown to be outdated, and the objects that were made from it.
    private func invalidate(_ entry: CacheEntry) {
        cache.remove(entry)
        report(.invalidated([entry.response.url]))
    }

    /// Updates an entry that is not the answer, or removes it if its new fields forbid storing. An injected lifetime begins again.
    func freshen(_ entry: CacheEntry, by exchange: Exchange) {
        guard var freshened = rebound(exchange.freshened(entry.response), from: entry, to: nil, of: exchange),
            freshened.mayStayStored
        else { return invalidate(entry) }
        if let injected = entry.response.injectedCacheControl, !freshened.fields.contains(FieldName.cacheControl),
            !freshened.fields.contains(FieldName.expires)
        {
            freshened.fields.add(FieldName.cacheControl, value: injected)
            freshened.injectedCacheControl = injected
        }
        _ = change(after: exchange, bytes: entry.bodySize) { [freshened] in cache.update(entry, to: freshened) }
    }
}

extension Exchange {
    /// The keys of the entries that the response invalidates (RFC 9111 §4.4).
    var invalidatedKeys: [String] {
        guard received.head?.isHTTP == true else { return [] }
        return CacheRules.invalidatedKeys(after: step.cacheRequest, status: received.status, fields: received.fields)
    }

    func freshened(_ response: StoredResponse) -> StoredResponse {
        CacheRules.freshened(
            response, by: received.fields, requestTime: requestTime, responseTime: received.time)
    }
}
