import Foundation
import HTTPCaching
import TestSupport

@testable import Synchronizer

/// A native fetcher over a played session, with a clock that is moved by hand.
struct NativeHarness {
    let clock = ManualClock()
    let session: PlayedSession
    let fetcher: NativeFetcher
    let network = NetworkSwitch()

    /// - Parameter server: its answers get a `Date`.
    init(cacheTime: TimeInterval? = nil, _ server: @escaping FakeTransport.Server = { _ in FakeReply(500) }) {
        let session = PlayedSession(cacheTime: cacheTime, time: clock)
        self.session = session
        fetcher = Self.fetcher(session, clock, network)
        serve(server)
    }

    func serve(_ server: @escaping FakeTransport.Server) {
        session.network.serve { [clock] request in
            var reply = server(request)
            reply.fields["Date"] = HTTPDate.format(clock.now)
            return reply
        }
    }

    init(cacheTime: TimeInterval? = nil, _ reply: FakeReply) {
        self.init(cacheTime: cacheTime) { _ in reply }
    }

    static func fetcher(
        _ session: PlayedSession, _ clock: ManualClock, _ network: NetworkSwitch = NetworkSwitch()
    ) -> NativeFetcher {
        NativeFetcher(
            transport: session, cache: session.cache, time: clock, injection: session.injection, network: network)
    }

    /// A synchronizer over the session, with the retries of the default.
    func synchronizer() -> Synchronizer {
        var configuration = Synchronizer.Configuration(urlCache: session.cache)
        configuration.time = clock
        return Synchronizer(configuration: configuration, fetcher: fetcher, network: network)
    }

    func request(_ change: (inout URLRequest) -> Void = { _ in }) -> URLRequest {
        var request = URLRequest(url: FetchHarness().request().url ?? URL(fileURLWithPath: "/"))
        change(&request)
        return request
    }

    /// A fetch that has no network slot yet.
    func start(_ change: (inout URLRequest) -> Void = { _ in }) -> Events {
        let events = Events()
        events.fetch = fetcher.fetch(request(change), options: FetchOptions(maximumBodySize: 1 << 20)) {
            events.note($0)
        }
        return events
    }

    /// Returns when the cache has been asked to remove everything that was queued for removal.
    func finishRemovals() { fetcher.cache.removing.sync {} }

    @discardableResult
    func load(_ change: (inout URLRequest) -> Void = { _ in }) -> Events {
        let events = start(change)
        events.fetch?.proceed()
        return events
    }
}
