import Foundation
import HTTPCaching

/// Leaves the cache to `URLSession`, which looks up, validates and stores. Adds what the session lacks: it isolates responses
/// per user, and makes sure that invalidated responses are not used again.
///
/// `URLSession` looks up by URL alone. So a header of each stored response says which requests it answers
/// (``CacheBindingHeader``), and the fetcher looks the response up before it sends a request. If the response answers other
/// requests, or was invalidated, the request's policy makes the session ignore its cache.
package final class NativeFetcher: Fetching {
    private let transport: any NativeTransport
    let cache: NativeCache
    private let injection: LifetimeInjection
    private let network: NetworkSwitch

    /// - Parameters:
    ///   - transport: its session must use this cache.
    ///   - injection: the lifetime that the session's delegate injects.
    package init(
        transport: any NativeTransport, cache: URLCache?, time: any TimeSource,
        injection: LifetimeInjection = LifetimeInjection(cacheTime: nil), network: NetworkSwitch = NetworkSwitch()
    ) {
        self.transport = transport
        self.cache = NativeCache(cache, time: time)
        self.injection = injection
        self.network = network
        network.whenOffline { transport.interrupt() }
    }

    package func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let context = NativeFetch.Context(transport: transport, cache: cache, injection: injection, network: network)
        let fetch = NativeFetch(request, context: context, options: options, receive: receive)
        fetch.start()
        return fetch
    }

    package func sessionCookies(for request: URLRequest) -> String? { transport.sessionCookies(for: request) }

    package func removeStored(for request: URLRequest, body: String?) {
        if let url = request.url {
            let removed = CacheRequest(request, url: url, sessionHeaders: [:], isOffline: false, body: body)
            cache.reasons.noteRemoval(of: .init(removed), because: .undecodable)
        }
        cache.remove(for: request)
    }

    package func removeStoredSoon(for requests: [URLRequest]) { cache.removeSoon(for: requests) }

    package func removeAllStored() { cache.removeAll() }
}
