import Foundation
import SynchronizerTesting
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Holds one fetch. All others end with `notCached` when they may use the network.
private final class RefusingFetcher: Fetching {
    private let nothingStored: Bool
    private let held = Locked<(@Sendable (FetchEvent) -> Void)?>(nil)

    init(nothingStored: Bool) {
        self.nothingStored = nothingStored
    }

    func fetch(
        _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
    ) -> any Fetch {
        let fetch = RefusedFetch { [held] in
            if request.url?.path == "/held" { held.withLock { $0 = receive } } else { receive(Self.end) }
        }
        if options.purpose == .sendAfterMiss {
            fetch.proceed()
        } else {
            receive(.needsNetwork(nothingStored: nothingStored))
        }
        return fetch
    }

    private static let end = FetchEvent.finished(.failure(.notCached(.init(url: nil, trace: LoadTrace()))))

    var isHolding: Bool { held.withLock { $0 != nil } }

    func endHeld() { held.withLock { $0.take() }?(Self.end) }
    func removeStored(for request: URLRequest, body: String?) {}
    func removeAllStored() {}
}

private final class RefusedFetch: Fetch {
    private let use: @Sendable () -> Void

    init(_ use: @escaping @Sendable () -> Void) {
        self.use = use
    }

    func proceed() { use() }
    func provisional() -> Fetched? { nil }
    func cancel() {}
}

@Suite("Loads that end before they have sent their requests", .bounded)
struct EndedBeforeSendingTests {
    private static let count = 4_000

    private func load(_ count: Int, with synchronizer: Synchronizer) throws -> Collector<Bool> {
        let results = Collector<Bool>()
        let queue = DispatchQueue(label: "results")
        for number in 0..<count {
            let url = try #require(URL(string: "http://a.example/\(number)"))
            synchronizer.loadResource(DataResource(url: url), on: queue) { result in
                let isNotCached = if case .error(SynchronizerError.notCached) = result { true } else { false }
                results.append(isNotCached)
            }
        }
        return results
    }

    @Test("give their slots to very many others, although the stack is small", arguments: [false, true])
    func smallStack(nothingStored: Bool) async throws {
        let fetcher = RefusingFetcher(nothingStored: nothingStored)
        var configuration = Synchronizer.Configuration(urlCache: nil)
        (configuration.maximumLoads, configuration.time) = (1, ManualClock())
        let synchronizer = Synchronizer(configuration: configuration, fetcher: fetcher)
        let first = try #require(URL(string: "http://a.example/held"))
        synchronizer.loadResource(DataResource(url: first), on: .global()) { _ in }
        try await waitUntil("the first load has the slot") { fetcher.isHolding }
        let results = try load(Self.count, with: synchronizer)
        try await waitUntil("all others wait for the slot") {
            synchronizer.loader.state.withLock { state in
                state.machine.subscribers.count == Self.count + 1 && state.machine.lookups.isEmpty
                    && state.machine.lookupsRunning == 0
            }
        }
        let thread = Thread { fetcher.endHeld() }
        thread.stackSize = 512 << 10
        thread.start()
        #expect(try await results.wait(for: Self.count).allSatisfy { $0 })
        try await synchronizer.waitUntilIdle()
    }

    @Test("are as many as wait for slots when the network is switched off")
    func offline() async throws {
        let gate = Gate()
        let server = StubServer { _ in
            try await gate.wait()
            return Reply("")
        }
        let synchronizer = server.synchronizer()
        let results = try load(Self.count, with: synchronizer)
        try await waitUntil("all loads wait") {
            synchronizer.loader.state.withLock { $0.machine.subscribers.count } == Self.count
        }
        try await server.waitForRequests(1)
        synchronizer.isOffline = true
        #expect(try await results.wait(for: Self.count).allSatisfy { $0 })
        try await synchronizer.waitUntilIdle()
    }
}
