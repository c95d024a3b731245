import Foundation
import TestSupport

@testable import Synchronizer

/// A fetcher without network, whose fetches end when and how a test says.
final class FakeFetcher: Fetching {
    private struct State {
        var waiting: [FakeFetch] = []
        var started = 0
        var begun: [(fetch: FakeFetch, name: String)] = []
    }

    private let state = Locked(State())
    /// Whether the cache is said not to answer, so that each fetch waits for a network slot.
    private let needsNetwork: Bool

    /// Whether its fetches may be dropped while they wait.
    private let nothingStored: Bool

    private let remembers: Bool

    /// Called when all that is stored is removed.
    let whenRemoving = Locked<(@Sendable () -> Void)?>(nil)

    /// - Parameter remembers: whether it keeps all fetches that have begun, for a test to look at.
    init(needsNetwork: Bool = true, nothingStored: Bool = false, remembers: Bool = false) {
        self.remembers = remembers
        self.needsNetwork = needsNetwork
        self.nothingStored = nothingStored
    }

    /// Fetches that have begun so far.
    var started: Int { state.withLock { $0.started } }

    func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let fetch = FakeFetch(request, receive) { [state] fetch in state.withLock { $0.waiting.append(fetch) } }
        state.withLock { state in
            state.started += 1
            let name = request.url.map { $0.path + (options.purpose == .sendAfterMiss ? " sent" : "") }
            if remembers, let name { state.begun.append((fetch, name)) }
        }
        if needsNetwork, options.purpose != .sendAfterMiss {
            receive(.needsNetwork(nothingStored: nothingStored))
        } else {
            fetch.proceed()
        }
        return fetch
    }

    /// All that have begun: their paths, and whether they were sent without a lookup.
    var begun: [String] { state.withLock { $0.begun.map(\.name) } }

    /// Whether the fetch with that number has been dropped, or cancelled.
    func isCancelled(_ number: Int) -> Bool { state.withLock { $0.begun[number].fetch.isCancelled } }

    /// Takes out the one of that path that is in flight.
    func take(_ path: String) -> FakeFetch? {
        state.withLock { state in
            let index = state.waiting.firstIndex { $0.request.url?.path == path && !$0.isCancelled }
            return index.map { state.waiting.remove(at: $0) }
        }
    }

    /// Takes out one of those that are in flight.
    func takeOne(_ generator: inout SeededGenerator) -> FakeFetch? {
        state.withLock { state in
            state.waiting.removeAll { $0.isCancelled }
            guard let index = state.waiting.indices.randomElement(using: &generator) else { return nil }
            state.waiting.swapAt(index, state.waiting.count - 1)
            return state.waiting.removeLast()
        }
    }

    func removeStored(for request: URLRequest, body: String?) {}
    func removeAllStored() { whenRemoving.withLock { $0 }?() }
}

final class FakeFetch: Fetch {
    let request: URLRequest
    private let receive: Locked<(@Sendable (FetchEvent) -> Void)?>
    private let begin: @Sendable (FakeFetch) -> Void

    init(
        _ request: URLRequest, _ receive: @escaping @Sendable (FetchEvent) -> Void,
        begin: @escaping @Sendable (FakeFetch) -> Void
    ) {
        self.request = request
        self.receive = Locked(receive)
        self.begin = begin
    }

    var isCancelled: Bool { receive.withLock { $0 == nil } }

    /// Ends it with the URL's path as its body, of no use after this moment.
    func finish(freshUntil: Date = .distantPast) {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return }
        let fetched = Fetched(
            body: Data(url.path.utf8), response: ResponseHead(response), freshUntil: freshUntil, trace: LoadTrace())
        report(.finished(.success(fetched)))
    }

    func report(_ event: FetchEvent) { receive.withLock { $0 }?(event) }

    func proceed() { begin(self) }
    func provisional() -> Fetched? { nil }
    func cancel() { receive.withLock { $0 = nil } }
}
