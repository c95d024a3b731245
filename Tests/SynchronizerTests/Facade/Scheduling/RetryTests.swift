import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Trying again", .bounded)
struct RetryTests {
    let bench: Workbench
    let url: URL

    init() throws {
        bench = try Workbench()
        url = bench.server.url("/a")
    }

    func synchronizer(_ change: (inout Synchronizer.Configuration) -> Void = { _ in }) -> Synchronizer {
        bench.synchronizer {
            $0.retry = RetryPolicy()
            change(&$0)
        }
    }

    func start(_ synchronizer: Synchronizer) -> Task<Data, any Error> {
        Task { [url] in try await synchronizer.load(DataResource(url: url)) }
    }

    func busy(_ seconds: Int) -> Reply { Reply("busy", status: 503, fields: ["Retry-After": "\(seconds)"]) }

    @Test("a busy server gets the retry when its Retry-After passes, and not before")
    func retryAfter() async throws {
        bench.server.enqueue(busy(7), Reply("at last"), for: "/a")
        let load = start(synchronizer())
        try await bench.clock.waitForTimer(after: 7...7)
        bench.clock.advance(by: 6.9)
        #expect(bench.server.counts.requests == 1)
        bench.clock.advance(by: 0.2)
        #expect(try await load.value == Data("at last".utf8))
        #expect(bench.server.counts.requests == 2)
    }

    @Test("Retry-After may be a date")
    func retryAfterDate() async throws {
        let busy = Reply("busy", status: 429).adding("Retry-After", date: bench.clock.now + 9)
        bench.server.enqueue(busy, Reply("ok"), for: "/a")
        let load = start(synchronizer())
        try await bench.clock.waitForTimer(after: 9...9)
        bench.clock.advance(by: 8.9)
        #expect(bench.server.counts.requests == 1)
        bench.clock.advance(by: 0.2)
        #expect(try await load.value == Data("ok".utf8))
    }

    @Test("after three attempts the last response's error is delivered")
    func threeTries() async throws {
        bench.server["/a"] = Reply("busy", status: 503)
        let load = start(synchronizer())
        for bound in [0.5, 1] {
            try await bench.clock.runTimer(after: 0...bound)
        }
        let error = await #expect(throws: SynchronizerError.self) { try await load.value }
        #expect((error?.context.response as? HTTPURLResponse)?.statusCode == 503)
        #expect(bench.server.counts.requests == 3)
    }

    @Test("a reset is retried, and all subscribers get the one response")
    func reset() async throws {
        let gate = Gate()
        let broken = Reply("broken").failing(.reset(.afterHead)).waiting(for: gate)
        bench.server.enqueue(broken, Reply("whole"), for: "/a")
        let synchronizer = synchronizer()
        let answers = Collector<Data?>()
        for _ in 0..<5 {
            synchronizer.loadResource(DataResource(url: url), on: .global()) { result in
                if case .success(let data) = result { answers.append(data) } else { answers.append(nil) }
            }
        }
        try await gate.waitForArrivals()
        gate.open()
        try await bench.clock.runTimer(after: 0...0.5)
        #expect(try await answers.wait(for: 5) == Array(repeating: Data("whole".utf8), count: 5))
        #expect(bench.server.counts.requests == 2)
    }

    @Test("a permanent error is delivered at once", arguments: [400, 404, 410, 500, 501])
    func final(status: Int) async throws {
        bench.server["/a"] = Reply("no", status: status)
        await #expect(throws: SynchronizerError.self) { try await start(synchronizer()).value }
        #expect(bench.server.counts.requests == 1)
    }

    @Test("a POST is sent once")
    func post() async throws {
        bench.server["/a"] = busy(1)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data("x".utf8)
        let synchronizer = synchronizer()
        await #expect(throws: SynchronizerError.self) { try await synchronizer.load(DataResource(request: request)) }
        #expect(bench.server.counts.requests == 1)
    }

    @Test("a load without subscribers is not retried", arguments: [0, 20])
    func withoutSubscribers(grace: TimeInterval) async throws {
        bench.server["/a"] = busy(5)
        bench.server["/b"] = Reply("b")
        let synchronizer = synchronizer { $0.cancellationGracePeriod = grace }
        let load = start(synchronizer)
        try await bench.clock.waitForTimer(after: 5...5)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        try await synchronizer.waitUntilIdle()
        bench.clock.advance(by: 30)
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/b")))
        #expect(bench.server.requests.map(\.path) == ["/a", "/b"])
    }

    @Test("a load without subscribers reports no retry, and takes none from its origin")
    func inGracePeriod() async throws {
        let (gate, recorder) = (Gate(), ObservingTests.Recorder())
        bench.server["/a"] = busy(5).waiting(for: gate)
        let synchronizer = synchronizer {
            $0.cancellationGracePeriod = 20
            $0.observer = recorder
        }
        let cancel = synchronizer.loadResource(DataResource(url: url), on: .global()) { _ in }
        try await gate.waitForArrivals()
        cancel()
        gate.open()
        try await waitUntil("the load has ended") { recorder.names.last == "cancelled" }
        #expect(!recorder.names.contains("retrying"))
    }

    @Test("while a load backs off, another uses its slot")
    func backingOff() async throws {
        bench.server.enqueue(busy(20), Reply("a"), for: "/a")
        bench.server["/b"] = Reply("b")
        let synchronizer = synchronizer {
            $0.maximumLoads = 1
            $0.maximumLoadsPerHost = 1
        }
        let load = start(synchronizer)
        try await bench.clock.waitForTimer(after: 20...20)
        let other = try await synchronizer.load(DataResource(url: bench.server.url("/b")))
        #expect(other == Data("b".utf8))
        bench.clock.advance(by: 20)
        #expect(try await load.value == Data("a".utf8))
    }

    @Test("no try begins after the total time")
    func totalTime() async throws {
        bench.server["/a"] = busy(25)
        let load = start(synchronizer { $0.retry.totalTime = 40 })
        try await bench.clock.waitForTimer(after: 25...25)
        bench.clock.advance(by: 25)
        await #expect(throws: SynchronizerError.self) { try await load.value }
        #expect(bench.server.counts.requests == 2)
    }

    /// Loads from the origin that is busy. The first five of such loads are tried twice more, and use its retries up.
    func failTo(load number: Int, with synchronizer: Synchronizer) async throws {
        let load = Task { [bench] in
            try await synchronizer.load(DataResource(url: bench.server.url("/x?\(number)")))
        }
        for bound in number < 5 ? [0.5, 1] : [] {
            try await bench.clock.runTimer(after: 0...bound)
        }
        await #expect(throws: SynchronizerError.self) { try await load.value }
    }

    @Test("an origin that fails for long has ten retries, all its loads together")
    func budget() async throws {
        bench.server.handle("/x") { _ in Reply("busy", status: 503) }
        let synchronizer = synchronizer()
        for number in 0..<8 {
            try await failTo(load: number, with: synchronizer)
        }
        #expect(bench.server.counts.requests == 8 + 10)
    }

    @Test("a cache hit does not refill the retry budget of an origin")
    func budgetAndStore() async throws {
        bench.server["/stored"] = Reply("stored", fields: ["Cache-Control": "max-age=1000"])
        bench.server["/x"] = Reply("busy", status: 503)
        let synchronizer = synchronizer()
        let stored = DataResource(url: bench.server.url("/stored"))
        _ = try await synchronizer.load(stored)
        for number in 0..<6 {
            try await failTo(load: number, with: synchronizer)
            for _ in 0..<12 {
                synchronizer.removeAllObjects()
                #expect(try await synchronizer.loaded(stored).source == .cache)
            }
        }
        #expect(bench.server.counts.requests == 1 + 6 + 10)
    }
}
