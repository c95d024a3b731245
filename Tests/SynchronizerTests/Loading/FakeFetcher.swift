import Foundation
import TestSupport

@testable import Synchronizer

/// A fetcher without network, whose fetches end when and how a test says.
final class FakeFetcher: Fetching {
    private struct State {
        var waiting: [FakeFetch] = []
        var started = 0
    }

    private let state = Locked(State())
    /// Whether the cache is said not to answer, so that each fetch waits for its turn on the network.
    private let needsNetwork: Bool

    /// Whether its fetches may be dropped while they wait.
    private let nothingStored: Bool

    init(needsNetwork: Bool = true, nothingStored: Bool = false) {
        self.needsNetwork = needsNetwork
        self.nothingStored = nothingStored
    }

    /// Fetches that have begun so far.
    var started: Int { state.withLock { $0.started } }

    func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let fetch = FakeFetch(request, receive) { [state] fetch in state.withLock { $0.waiting.append(fetch) } }
        state.withLock { $0.started += 1 }
        if needsNetwork, !options.skipsLookUp {
            receive(.needsNetwork(nothingStored: nothingStored))
        } else {
            fetch.proceed()
        }
        return fetch
    }

    /// Takes out one of those that are under way.
    func takeOne(_ generator: inout SeededGenerator) -> FakeFetch? {
        state.withLock { state in
            state.waiting.removeAll { $0.isCancelled }
            guard let index = state.waiting.indices.randomElement(using: &generator) else { return nil }
            state.waiting.swapAt(index, state.waiting.count - 1)
            return state.waiting.removeLast()
        }
    }

    func removeStored(for request: URLRequest) {}
    func removeAllStored() {}
}

final class FakeFetch: Fetch {
    let request: URLRequest
    private let receive: Locked<(@Sendable (FetchEvent) -> Void)?>
    private let underWay: @Sendable (FakeFetch) -> Void

    init(
        _ request: URLRequest, _ receive: @escaping @Sendable (FetchEvent) -> Void,
        underWay: @escaping @Sendable (FakeFetch) -> Void
    ) {
        self.request = request
        self.receive = Locked(receive)
        self.underWay = underWay
    }

    var isCancelled: Bool { receive.withLock { $0 == nil } }

    /// Ends it with the URL's path as its body, of no use after this moment.
    func finish() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
        else { return }
        let fetched = Fetched(
            body: Data(url.path.utf8), response: ResponseHead(response), freshUntil: .distantPast, trace: LoadTrace())
        receive.withLock { $0 }?(.finished(.success(fetched)))
    }

    func proceed() { underWay(self) }
    func storedMeanwhile() -> Fetched? { nil }
    func cancel() { receive.withLock { $0 = nil } }
}
