import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The order of loads, as the server sees it", .bounded)
struct SchedulingTests {
    let bench: Workbench
    let answers = Collector<String>()
    let gate = Gate()

    init() throws {
        bench = try Workbench()
        bench.server["/blocker"] = Reply("blocker").waiting(for: gate)
        bench.server["/stored"] = Reply("stored", fields: ["Cache-Control": "max-age=1000"])
        bench.server.handle("/x") { request in Reply(request.target) }
    }

    /// A synchronizer with one load and one lookup at a time, so that the order is plain to see.
    func narrow(_ change: (inout Synchronizer.Configuration) -> Void = { _ in }) -> Synchronizer {
        bench.synchronizer {
            $0.maximumLoads = 1
            $0.maximumLoadsPerHost = 1
            $0.maximumParses = 1
            change(&$0)
        }
    }

    /// Occupies the only slot until the gate is opened.
    func block(_ synchronizer: Synchronizer) async throws {
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/stored")))
        start(synchronizer, "/blocker")
        try await gate.waitForArrivals()
    }

    @discardableResult
    func start(_ synchronizer: Synchronizer, _ target: String, _ priority: LoadPriority = .normal) -> CancelLoading {
        let resource = DataResource(url: bench.server.url(target))
        return synchronizer.loadResource(resource, priority: priority, on: .global()) { [answers] _ in
            answers.append(target)
        }
    }

    /// Returns when all earlier loads have looked into the cache. There is one lookup at a time, and the lookup of this method is
    /// the last one.
    func allLookedUp(_ synchronizer: Synchronizer) async throws {
        synchronizer.removeAllObjects()
        let stored = DataResource(url: bench.server.url("/stored"))
        #expect(try await synchronizer.loaded(stored, priority: .veryLow).source == .cache)
    }

    /// The queries of the requests that the server got after the blocker, in order.
    func order(_ synchronizer: Synchronizer, _ count: Int) async throws -> [String] {
        try await allLookedUp(synchronizer)
        gate.open()
        try await bench.server.waitForRequests(2 + count)
        return bench.server.requests.dropFirst(2).map { $0.query ?? "" }
    }

    @Test("newest first")
    func newestFirst() async throws {
        let synchronizer = narrow()
        try await block(synchronizer)
        for number in 1...4 { start(synchronizer, "/x?\(number)") }
        #expect(try await order(synchronizer, 4) == ["4", "3", "2", "1"])
    }

    @Test("in the order of asking, if wanted")
    func oldestFirst() async throws {
        let synchronizer = narrow { $0.schedule = .oldestFirst }
        try await block(synchronizer)
        for number in 1...4 { start(synchronizer, "/x?\(number)") }
        #expect(try await order(synchronizer, 4) == ["1", "2", "3", "4"])
    }

    @Test("a new subscriber makes a queued load the newest")
    func again() async throws {
        let synchronizer = narrow()
        try await block(synchronizer)
        for number in [1, 2, 3, 1] { start(synchronizer, "/x?\(number)") }
        #expect(try await order(synchronizer, 3) == ["1", "3", "2"])
    }

    @Test("the urgent first")
    func priorities() async throws {
        let synchronizer = narrow()
        try await block(synchronizer)
        start(synchronizer, "/x?1", .low)
        start(synchronizer, "/x?2", .veryHigh)
        start(synchronizer, "/x?3", .veryLow)
        start(synchronizer, "/x?4", .high)
        start(synchronizer, "/x?5", .normal)
        #expect(try await order(synchronizer, 5) == ["2", "4", "5", "1", "3"])
    }

    @Test("a load has the highest priority of its subscribers, also after one of them cancels")
    func joining() async throws {
        let synchronizer = narrow()
        try await block(synchronizer)
        start(synchronizer, "/x?1", .low)
        start(synchronizer, "/x?2", .normal)
        start(synchronizer, "/x?3", .low)
        start(synchronizer, "/x?1", .high)
        let leave = start(synchronizer, "/x?3", .veryHigh)
        leave()
        #expect(try await order(synchronizer, 3) == ["1", "2", "3"])
    }

    @Test("a change of a task's priority moves its load")
    @MainActor func change() async throws {
        let synchronizer = narrow()
        try await block(synchronizer)
        let tasks = (1...4).map { number in
            synchronizer.startLoading(DataResource(url: bench.server.url("/x?\(number)"))) { _ in }
        }
        tasks[0].priority = .veryHigh
        tasks[3].priority = .veryLow
        #expect(tasks.map(\.priority) == [.veryHigh, .normal, .normal, .veryLow])
        #expect(try await order(synchronizer, 4) == ["1", "3", "2", "4"])
    }

    @Test("a prefetch is promoted at once when a load wants its resource")
    func promotion() async throws {
        let synchronizer = narrow()
        try await block(synchronizer)
        let resources = (1...3).map { DataResource(url: bench.server.url("/x?\($0)")) }
        synchronizer.prefetch(resources)
        start(synchronizer, "/x?4")
        start(synchronizer, "/x?2")
        #expect(try await order(synchronizer, 4).prefix(2) == ["2", "4"])
    }

    @Test("a prefetch in flight gives its slot to a visible load, and is loaded later")
    func preemption() async throws {
        let synchronizer = narrow()
        bench.server["/prefetched"] = Reply("p", fields: ["Cache-Control": "max-age=1000"]).waiting(for: gate)
        let prefetched = DataResource(url: bench.server.url("/prefetched"))
        synchronizer.prefetch([prefetched])
        try await gate.waitForArrivals()
        let visible = try await synchronizer.load(DataResource(url: bench.server.url("/x?1")))
        #expect(visible == Data("/x?1".utf8))
        gate.open()
        try await bench.server.waitForRequests(3)
        #expect(bench.server.requests.map(\.path) == ["/prefetched", "/x", "/prefetched"])
        #expect(try await synchronizer.load(prefetched) == Data("p".utf8))
        #expect(bench.server.counts.requests == 3)
    }

    @Test("an unsafe request in flight keeps its slot, because it must not be sent twice")
    func unsafe() async throws {
        let synchronizer = narrow()
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/stored")))
        bench.server["/posted"] = Reply("p").waiting(for: gate)
        var request = URLRequest(url: bench.server.url("/posted"))
        request.httpMethod = "POST"
        let posted = DataResource(request: request)
        let post = Task { try await synchronizer.load(posted, priority: .low) }
        try await gate.waitForArrivals()
        start(synchronizer, "/x?1")
        try await allLookedUp(synchronizer)
        gate.open()
        #expect(try await post.value == Data("p".utf8))
        try await answers.wait(for: 1)
        #expect(bench.server.requests.map(\.path) == ["/stored", "/posted", "/x"])
    }

    @Test("each origin has its bound, and does not hold up another")
    func perHost() async throws {
        let other = try ScriptedServer()
        for server in [bench.server, other] { server.handle("/held") { [gate] _ in Reply("x").waiting(for: gate) } }
        let synchronizer = narrow {
            $0.maximumLoads = 4
            $0.maximumLoadsPerHost = 1
        }
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/stored")))
        for number in 0..<3 { start(synchronizer, "/held?\(number)") }
        let resource = DataResource(url: other.url("/held"))
        synchronizer.loadResource(resource, on: .global()) { [answers] _ in answers.append("other") }
        try await gate.waitForArrivals(2)
        try await allLookedUp(synchronizer)
        #expect(bench.server.counts.requests == 2)  // the stored one, and one that is held
        #expect(other.counts.requests == 1)
        gate.open()
        try await answers.wait(for: 4)
        #expect(bench.server.requests.map(\.target).suffix(3).sorted() == ["/held?0", "/held?1", "/held?2"])
    }

    /// Its parse goes on until it is told to end.
    struct Slow: Resource {
        let url: URL
        let begun: Collector<Bool>
        let end: DispatchSemaphore
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Int {
            { [begun, end] data in
                begun.append(true)
                end.wait()
                return data.count
            }
        }
    }

    @Test("a quick parse does not wait behind slow ones")
    func quickParses() async throws {
        let synchronizer = bench.synchronizer { $0.maximumParses = 1 }
        bench.server["/slow"] = Reply("slow")
        bench.server["/quick"] = Reply("quick")
        let slow = Slow(url: bench.server.url("/slow"), begun: Collector(), end: DispatchSemaphore(value: 0))
        let load = Task { try await synchronizer.load(slow) }
        try await slow.begun.wait(for: 1)
        #expect(try await synchronizer.load(DataResource(url: bench.server.url("/quick"))) == Data("quick".utf8))
        slow.end.signal()
        #expect(try await load.value == 4)
    }

    @Test("nor behind bodies that wait to be parsed, though they are more urgent")
    func quickBehindMany() async throws {
        let synchronizer = bench.synchronizer { $0.maximumParses = 1 }
        bench.server.handle("/slow") { _ in Reply("slow") }
        bench.server["/quick"] = Reply("quick")
        let (begun, end) = (Collector<Bool>(), DispatchSemaphore(value: 0))
        let loads = (0..<3).map { number in
            let slow = Slow(url: bench.server.url("/slow?\(number)"), begun: begun, end: end)
            return Task { try await synchronizer.load(slow, priority: .high) }
        }
        try await waitUntil("one is parsed, and two wait for it") {
            synchronizer.loader.update { state in
                state.downloads.ids.count { state.downloads[$0]?.result != nil } == 3
            }
        }
        let quick = DataResource(url: bench.server.url("/quick"))
        #expect(try await synchronizer.load(quick, priority: .low) == Data("quick".utf8))
        for _ in loads { end.signal() }
        for load in loads { #expect(try await load.value == 4) }
    }

    @Test("parses of stored responses count towards the same limit")
    func storedParses() async throws {
        let synchronizer = bench.synchronizer { $0.maximumParses = 1 }
        bench.server["/a"] = Reply("abc", fields: ["Cache-Control": "max-age=1", "ETag": "\"1\""])
        bench.server["/b"] = Reply("abcd")
        let a = bench.server.url("/a")
        _ = try await synchronizer.load(DataResource(url: a))
        bench.clock.advance(by: 10)
        bench.server["/a"] = Reply("ab", fields: ["ETag": "\"2\""]).waiting(for: gate)
        let slow = Slow(url: a, begun: Collector(), end: DispatchSemaphore(value: 0))
        let updates = Task {
            var objects: [Int] = []
            for try await update in synchronizer.updates(of: slow) { objects.append(update.object) }
            return objects
        }
        try await slow.begun.wait(for: 1)
        let other = Slow(url: bench.server.url("/b"), begun: Collector(), end: DispatchSemaphore(value: 0))
        other.end.signal()
        let load = Task { try await synchronizer.load(other) }
        try await waitUntil("the other's body waits to be parsed") {
            synchronizer.loader.update { state in state.downloads.ids.contains { state.downloads[$0]?.result != nil } }
        }
        #expect(other.begun.elements.isEmpty)
        slow.end.signal()
        #expect(try await load.value == 4)
        gate.open()
        slow.end.signal()
        #expect(try await updates.value == [3, 2])
    }
}
