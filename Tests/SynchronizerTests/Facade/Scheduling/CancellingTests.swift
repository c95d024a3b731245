import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Cancelling", .bounded)
struct CancellingTests {
    let bench: Workbench
    let synchronizer: Synchronizer
    let gate = Gate()

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        bench.server["/open"] = Reply("open")
        bench.server["/gated"] = Reply(Data(repeating: 1, count: 50_000)).waiting(for: gate, .afterBody(20_000))
    }

    /// Lets everything that is on its way to the main actor arrive there.
    @MainActor func settle() async throws {
        for _ in 0..<3 { _ = try await synchronizer.load(DataResource(url: bench.server.url("/open"))) }
    }

    @Test("before the start: no completion, no request")
    @MainActor func beforeTheStart() async throws {
        var calls = 0
        let narrow = bench.synchronizer {
            $0.maximumLoads = 1
            $0.maximumLoadsPerHost = 1
        }
        let first = narrow.loadResource(DataResource(url: bench.server.url("/gated"))) { _ in }
        try await bench.server.waitForRequests(1)
        let waiting = narrow.loadResource(DataResource(url: bench.server.url("/never"))) { _ in calls += 1 }
        waiting()
        first()
        try await settle()
        #expect(calls == 0)
        #expect(!bench.server.requests.contains { $0.path == "/never" })
    }

    @Test("during the transfer: no completion, and the server sees the connection close")
    @MainActor func duringTheTransfer() async throws {
        var calls = 0
        let cancel = synchronizer.loadResource(DataResource(url: bench.server.url("/gated"))) { _ in calls += 1 }
        try await gate.waitForArrivals(1)
        cancel()
        cancel()
        try await bench.server.waitUntilConnectionsClosed()
        try await settle()
        #expect(calls == 0)
        #expect(bench.server.counts.repliesAbandoned == 1)
    }

    @Test("after the completion, from the completion itself, and twice: one call")
    @MainActor func afterTheCompletion() async throws {
        var calls = 0
        let cancel = Locked<CancelLoading?>(nil)
        await withCheckedContinuation { continuation in
            let closure = synchronizer.loadResource(DataResource(url: bench.server.url("/open"))) { _ in
                calls += 1
                cancel.withLock { $0 }?()
                continuation.resume()
            }
            cancel.withLock { $0 = closure }
        }
        cancel.withLock { $0 }?()
        cancel.withLock { $0 }?()
        try await settle()
        #expect(calls == 1)
    }

    @Test("a load that is cancelled before its delivery on the main actor is not delivered")
    @MainActor func onTheWayToTheMainActor() async throws {
        var calls = 0
        let cancel = synchronizer.loadResource(DataResource(url: bench.server.url("/open"))) { _ in calls += 1 }
        // The main actor is held here until the answer must be waiting for it.
        let arrived = DispatchSemaphore(value: 0)
        synchronizer.loadResource(DataResource(url: bench.server.url("/open")), on: .global()) { _ in arrived.signal() }
        arrived.wait()
        cancel()
        try await settle()
        #expect(calls == 0)
    }

    @Test("from many threads at once: at most one call, none after")
    func fromManyThreads() async throws {
        for _ in 0..<50 {
            let calls = Locked(0)
            let url = bench.server.url("/open?\(UUID().uuidString)")
            let cancel = synchronizer.loadResource(DataResource(url: url), on: .global()) { _ in
                calls.withLock { $0 += 1 }
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { cancel() } }
            }
            #expect(calls.withLock { $0 } <= 1)
        }
    }

    @Test("the load of a cancelled task throws CancellationError: queued, in flight, and before it begins")
    func tasks() async throws {
        let inFlight = Task { try await synchronizer.load(DataResource(url: bench.server.url("/gated"))) }
        try await gate.waitForArrivals(1)
        inFlight.cancel()
        await #expect(throws: CancellationError.self) { try await inFlight.value }
        try await bench.server.waitUntilConnectionsClosed()

        let held = Gate()
        let notBegun = Task {
            try? await held.waitForArrivals(1)  // ends when the task is cancelled
            return try await synchronizer.load(DataResource(url: bench.server.url("/never")))
        }
        notBegun.cancel()
        await #expect(throws: CancellationError.self) { try await notBegun.value }
        #expect(!bench.server.requests.contains { $0.path == "/never" })
    }

    @Test("one subscriber's cancel leaves the others")
    func others() async throws {
        let answers = Collector<Int>()
        let cancels = (0..<10).map { number in
            synchronizer.loadResource(DataResource(url: bench.server.url("/gated")), on: .global()) { result in
                if case .success(let data) = result, data.count == 50_000 { answers.append(number) }
            }
        }
        try await gate.waitForArrivals(1)
        for number in [0, 2, 4, 6, 8] { cancels[number]() }
        gate.open()
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/gated")))
        try await answers.wait(for: 5)
        #expect(answers.elements.sorted() == [1, 3, 5, 7, 9])
        #expect(bench.server.requests.filter { $0.path == "/gated" }.count <= 2)
    }

    /// Answers out of its cache, on the thread that asks, when it is told to.
    private final class SlowCache: Fetching {
        let begun = Collector<Bool>()
        let gate = DispatchSemaphore(value: 0)

        func fetch(
            _ request: URLRequest, options: FetchOptions, receive: @escaping @Sendable (FetchEvent) -> Void
        ) -> any Fetch {
            let fetch = FakeFetch(request, receive) { _ in }
            begun.append(true)
            gate.wait()
            fetch.finish()
            return fetch
        }

        func removeStored(for request: URLRequest, body: String?) {}
        func removeAllStored() {}
    }

    @Test("a task that is cancelled during the lookup on its own thread throws CancellationError")
    func cancelledInLookUp() async throws {
        let fetcher = SlowCache()
        let synchronizer = Synchronizer(configuration: .init(urlCache: nil), fetcher: fetcher)
        let resource = DataResource(url: bench.server.url("/a"))
        let task = onThreadThatMayBlock { try await synchronizer.load(resource) }
        try await fetcher.begun.wait(for: 1)
        task.cancel()
        fetcher.gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(synchronizer.loader.update { $0.receivers.isEmpty })
    }
}
