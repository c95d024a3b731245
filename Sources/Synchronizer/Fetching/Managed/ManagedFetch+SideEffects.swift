import Foundation
import HTTPCaching

// The fifth stage, continued: what a response does to other entries than its own.
extension ManagedFetch {
    func applySideEffects(of exchange: inout Exchange) {
        let keys = CacheRules.invalidatedKeys(
            after: exchange.step.cacheRequest, status: exchange.received.status, fields: exchange.received.fields)
        if !keys.isEmpty {
            // With the new mark, the response itself may still be stored.
            exchange.mark = cache.invalidations.note(
                keys, at: cache.time.now, keeping: exchange.mark, of: exchange.step.cacheRequest.url)
            for key in keys { cache.removeEntries(for: key) }
            report(.invalidated(keys))
        }
        if exchange.received.status == 304 {
            let step = exchange.step
            let confirmed = CacheRules.candidates(
                confirmedBy: exchange.received.fields, among: step.candidates, for: step.cacheRequest)
            for index in confirmed { freshen(step.entries[index], by: exchange) }
        }
        if exchange.step.cacheRequest.method == "HEAD", exchange.received.status == 200 { applyHead(exchange) }
    }

    private func applyHead(_ exchange: Exchange) {
        let (step, fields) = (exchange.step, exchange.received.fields)
        for entry in step.entries {
            switch CacheRules.headUpdates(entry.candidate, by: fields, for: step.cacheRequest) {
            case true?: freshen(entry, by: exchange)
            case false?: cache.remove(entry)
            case nil: break
            }
        }
    }

    /// Updates an entry that is not the answer. An injected lifetime begins again.
    func freshen(_ entry: CacheEntry, by exchange: Exchange) {
        guard var freshened = rebound(exchange.freshened(entry.response), from: entry, to: nil, of: exchange) else {
            return cache.remove(entry)
        }
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
    func freshened(_ response: StoredResponse) -> StoredResponse {
        CacheRules.freshened(
            response, by: received.fields, requestTime: requestTime, responseTime: received.time)
    }
}
