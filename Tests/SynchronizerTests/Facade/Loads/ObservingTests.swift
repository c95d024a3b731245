import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("What an observer receives", .bounded)
struct ObservingTests {
    final class Recorder: SynchronizerObserver {
        let events = Collector<SynchronizerEvent>()
        func synchronizerDid(_ event: SynchronizerEvent) { events.append(event) }

        var names: [String] {
            events.elements.map { event in
                String("\(event.kind)".prefix { $0 != "(" })
            }
        }
    }

    let bench: Workbench
    let recorder = Recorder()
    let synchronizer: Synchronizer

    init() throws {
        bench = try Workbench()
        let recorder = recorder
        synchronizer = bench.synchronizer { $0.observer = recorder }
        bench.server["/a"] = Reply("abc", fields: ["Cache-Control": "max-age=100"])
        bench.server["/moved"] = Reply.redirect(to: "/a")
    }

    @Test("a load from the network after a redirect, from its beginning to its end, in order and with one number")
    func network() async throws {
        _ = try await synchronizer.load(DataResource(url: bench.server.url("/moved")))
        #expect(
            recorder.names == [
                "queued", "started", "needsNetwork", "sent", "notStored", "redirected", "response", "data", "stored",
                "parsed", "finished",
            ])
        #expect(Set(recorder.events.elements.map(\.load)).count == 1)
        guard case .finished(let trace)? = recorder.events.elements.last?.kind else { return }
        #expect(trace.source == .network)
        #expect(trace.bytesReceived == 3)
    }

    @Test("hits on the disk and in memory")
    func cached() async throws {
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        let before = recorder.names.count
        _ = try await synchronizer.load(resource)
        synchronizer.removeAllObjects()
        _ = try await synchronizer.load(resource)
        #expect(
            Array(recorder.names.dropFirst(before)) == ["cached", "queued", "started", "cached", "parsed", "finished"])
        #expect(recorder.events.elements[before].load == nil)
    }

    @Test("nothing of a view that looks into memory before it loads, so that the hit counts once")
    func peeking() async throws {
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        let before = recorder.names.count
        for _ in 0..<2 {
            #expect(synchronizer.objectInMemory(for: resource, identity: resource.identity) == Data("abc".utf8))
        }
        #expect(recorder.names.count == before)
        #expect(synchronizer.cachedObject(for: resource) != nil && recorder.names.count == before + 1)
    }

    @Test("a load that everybody leaves, and one that fails")
    func endings() async throws {
        let gate = Gate()
        // Nothing else is to report while the load is cancelled: one thread reports for all.
        bench.server["/gated"] = Reply("x").waiting(for: gate)
        let cancel = synchronizer.loadResource(DataResource(url: bench.server.url("/gated"))) { _ in }
        try await gate.waitForArrivals(1)
        cancel()
        #expect(recorder.names.last == "cancelled")
        _ = try? await synchronizer.load(DataResource(url: bench.server.url("/none")))
        #expect(recorder.names.last == "failed")
    }

    /// Its parse says that it has begun, and waits until it may look whether it was cancelled.
    private struct Patient: Resource {
        let url: URL
        let begun = Collector<Bool>()
        let mayLook = DispatchSemaphore(value: 0)
        let ended = Collector<Bool>()
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Int {
            { [begun, mayLook, ended] in
                begun.append(true)
                mayLook.wait()
                ended.append(ParseCancellation.isCancelled)
                return $0.count
            }
        }
    }

    @Test("a load whose last subscriber cancels during the parse ends, too")
    func leftInParse() async throws {
        let patient = Patient(url: bench.server.url("/a"))
        let cancel = synchronizer.loadResource(patient) { _ in }
        try await patient.begun.wait(for: 1)
        cancel()
        #expect(recorder.names.last == "cancelled")
        patient.mayLook.signal()
        #expect(try await patient.ended.wait(for: 1) == [true])
    }

    @Test("a memory hit sends the same events through every entry point")
    @MainActor func memory() async throws {
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        let before = recorder.names.count
        _ = try await synchronizer.load(resource)
        _ = synchronizer.cachedObject(for: resource)
        synchronizer.loadResource(resource) { _ in }
        _ = synchronizer.startLoading(resource) { _ in }
        let done = Collector<Bool>()
        synchronizer.loadResource(resource, on: .global()) { _ in done.append(true) }
        try await done.wait(for: 1)
        for try await _ in synchronizer.updates(of: resource) {}
        synchronizer.followResource(resource) { _ in }
        let heard = recorder.events.elements.dropFirst(before)
        #expect(recorder.names.dropFirst(before) == Array(repeating: "cached", count: 7)[...])
        #expect(heard.allSatisfy { $0.load == nil && $0.url == bench.server.url("/a") })
        synchronizer.prefetch([resource])
        #expect(recorder.names.count == before + 7)
    }

    @Test("a stale object in memory that answers offline is stale", arguments: [false, true])
    func staleObject(preparing: Bool) async throws {
        let (bench, recorder) = (bench, recorder)
        let synchronizer = bench.synchronizer {
            $0.observer = recorder
            if preparing { $0.prepare = { $0 } }
        }
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 1_000)
        synchronizer.isOffline = true
        let before = recorder.events.elements.count
        #expect(try await synchronizer.loaded(resource).source == .stale)
        let sources = recorder.events.elements.dropFirst(before).map { event -> LoadSource? in
            if case .cached(let source) = event.kind { source } else { nil }
        }
        #expect(sources == [.stale])
    }

    /// Notes whether one thread is told while another still is.
    private final class Overlaps: SynchronizerObserver {
        let events = Collector<SynchronizerEvent>()
        let inside = Locked(0)
        let most = Locked(0)

        func synchronizerDid(_ event: SynchronizerEvent) {
            let now = inside.withLock { inside -> Int in
                inside += 1
                return inside
            }
            most.withLock { $0 = max($0, now) }
            events.append(event)
            inside.withLock { $0 -= 1 }
        }

        /// The kinds of the events of each load, in the order in which the observer got them.
        var loads: [[String]] {
            Dictionary(grouping: events.elements) { $0.load ?? 0 }.values.map { events in
                events.map { String("\($0.kind)".prefix { $0 != "(" }) }
            }
        }
    }

    @Test("events of loads on many threads arrive one at a time, and those of each load in order")
    func manyThreads() async throws {
        let overlaps = Overlaps()
        let synchronizer = bench.synchronizer { $0.observer = overlaps }
        bench.server.handle("/many") { Reply($0.target) }
        let urls = (0..<200).map { bench.server.url("/many?\($0)") }
        DispatchQueue.concurrentPerform(iterations: urls.count) { number in
            let cancel = synchronizer.loadResource(DataResource(url: urls[number]), on: .global()) { _ in }
            if number % 3 == 0 { cancel() }
        }
        let ends: Set = ["finished", "failed", "cancelled"]
        try await waitUntil("all ends are heard") { overlaps.loads.count { ends.contains($0.last ?? "") } == 200 }
        #expect(overlaps.most.withLock { $0 } == 1)
        let order = ["queued", "started", "needsNetwork", "sent", "response", "data", "stored", "parsed", "finished"]
        for load in overlaps.loads {
            let steps = load.last == "cancelled" ? load.dropLast() : load[...]
            // One that was left may have come to any of these by then, and to no other.
            #expect(order.starts(with: steps.prefix { $0 != "stored" }), "\(load)")
            #expect(load.count { ends.contains($0) } == 1, "\(load)")
        }
    }
}
