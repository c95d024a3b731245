import Foundation
import HTTPCaching

/// Fetches responses as RFC 9111 says: from a store if the rules allow it, otherwise from the network.
package final class ManagedFetcher: Fetching {
    private let context: ManagedFetch.Context

    package init(
        transport: any Transport, store: (any ResponseStore)?, time: any TimeSource, rules: CacheRules = CacheRules(),
        network: NetworkSwitch = NetworkSwitch(), leases: RequestLeases? = nil
    ) {
        context = .init(
            transport: transport, cache: ManagedCache(store: store, time: time, rules: rules, leases: leases),
            network: network)
        network.whenOffline { transport.interrupt() }
    }

    package func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let hasSlot = options.purpose == .sendAfterMiss
        let fetch = ManagedFetch(context, options: options, hasSlot: hasSlot, receive: receive)
        switch options.purpose {
        case .load: fetch.run(.first(request))
        case .loadAgain, .refresh: fetch.run(.request(request, LoadTrace(), RedirectLifetime()))
        case .sendAfterMiss: fetch.run(.miss(request))
        }
        return fetch
    }

    package func sessionCookies(for request: URLRequest) -> String? { context.transport.sessionCookies(for: request) }

    package func keepObject(_ data: Data, as name: String, of source: DerivedSource) {
        context.cache.keepObject(data, as: name, of: source)
    }

    package func removeStored(for request: URLRequest, body: String?) {
        guard let url = request.url else { return }
        context.cache.removeUndecodable(
            CacheRequest(request, url: url, sessionHeaders: [:], isOffline: false, body: body))
    }

    package func removeStoredSoon(for requests: [URLRequest]) {
        context.cache.removeSoon(requests.compactMap(\.cacheKey))
    }

    package func removeAllStored() { context.cache.removeAll() }
}
