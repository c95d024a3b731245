import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Limits", .bounded)
struct LimitsTests {
    let bench: Workbench
    let recorder = ObservingTests.Recorder()

    init() throws {
        bench = try Workbench()
    }

    struct Bounded: Resource {
        let url: URL
        let maximumSize: Int?
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Int { { $0.count } }
    }

    @Test("the limits of an origin count for all of its spellings")
    func origins() throws {
        let synchronizer = bench.synchronizer { $0.maximumLoads = .max }
        func host(_ text: String) throws -> String {
            let resource = DataResource(url: try #require(URL(string: text)))
            return synchronizer.job(for: resource, identity: resource.identity, priority: .normal).host
        }
        let plain = try host("http://a.test/x")
        for same in ["http://A.test/y", "HTTP://a.test:80?z", "http://user:word@a.test/x", "http://a.test#x"] {
            #expect(try host(same) == plain)
        }
        for other in ["http://a.test:81/x", "https://a.test/x", "http://b.test/x"] {
            #expect(try host(other) != plain)
        }
    }

    @Test("a body over the limit is an error, with and without a Content-Length, and its transfer is cancelled")
    func size() async throws {
        let synchronizer = bench.synchronizer { $0.maximumResponseSize = 100_000 }
        bench.server["/exact"] = Reply(Data(repeating: 1, count: 100_000))
        bench.server["/over"] = Reply(Data(repeating: 1, count: 100_001))
        // The client must keep up, even under a sanitizer: it reads all arrived bytes before it notices that the load is cancelled.
        bench.server.limitBandwidth(to: 8 << 20)
        bench.server["/endless"] = Reply(Data(repeating: 1, count: 1_000)).failing(.endlessBody)
        #expect(try await synchronizer.load(DataResource(url: bench.server.url("/exact"))).count == 100_000)
        for target in ["/over", "/endless"] {
            let error = await #expect(throws: SynchronizerError.self) {
                try await synchronizer.load(DataResource(url: bench.server.url(target)))
            }
            guard case .tooLarge(let limit, let context)? = error else {
                Issue.record("\(target): \(String(describing: error))")
                return
            }
            #expect(limit == 100_000)
            #expect((context.response as? HTTPURLResponse)?.statusCode == 200)
        }
        try await bench.server.wait(for: "the endless reply to be given up") { $0.repliesAbandoned >= 1 }
    }

    @Test("a resource may have a limit of its own, and shares no load with one of another")
    func ownLimit() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply(Data(repeating: 1, count: 1_000)).waiting(for: gate, .afterHead)
        let synchronizer = bench.synchronizer()
        async let large = synchronizer.load(Bounded(url: bench.server.url("/a"), maximumSize: nil))
        let small = Task { try await synchronizer.load(Bounded(url: bench.server.url("/a"), maximumSize: 999)) }
        await #expect(throws: SynchronizerError.self) { try await small.value }
        gate.open()
        #expect(try await large == 1_000)
    }

    /// Returns when the second load waits for its slot.
    private func waitForSlot() async throws {
        try await waitUntil("the second load needs the network") {
            recorder.events.elements.filter { if case .needsNetwork = $0.kind { true } else { false } }.count == 2
        }
    }

    @Test("a load that exceeds its total time fails with a time-out, queued or in flight")
    func time() async throws {
        let gate = Gate()
        bench.server["/slow"] = Reply("slow").waiting(for: gate, .afterHead)
        let synchronizer = bench.synchronizer { configuration in
            configuration.timeoutForLoad = 60
            configuration.maximumLoads = 1
            configuration.observer = recorder
        }
        let results = Collector<SynchronizerError?>()
        func ask(for target: String) {
            synchronizer.loadResource(DataResource(url: bench.server.url(target)), on: .global()) { result in
                if case .error(let error) = result {
                    results.append(error as? SynchronizerError)
                } else {
                    results.append(nil)
                }
            }
        }
        ask(for: "/slow")
        try await gate.waitForArrivals(1)
        ask(for: "/waiting")
        try await waitForSlot()
        bench.clock.advance(by: 59)
        #expect(results.count == 0)
        bench.clock.advance(by: 2)
        for error in try await results.wait(for: 2) {
            guard case .transport(let cause, let context)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect((cause as? URLError)?.code == .timedOut)
            let hasWaited = context.url?.path == "/waiting"
            #expect(hasWaited ? context.trace.queueWait >= 60 : context.trace.queueWait == 0)
            let reason = "the load reached its time limit" + (hasWaited ? " while it waited for a slot or a retry" : "")
            #expect(context.trace.reason == reason && cause.localizedDescription == reason)
        }
        try await bench.server.wait(for: "the slow reply to be given up") { $0.repliesAbandoned == 1 }
        #expect(!bench.server.requests.contains { $0.path == "/waiting" })
    }

    @Test("the trace of a load that fails says how long it waited")
    func failedTrace() async throws {
        let gate = Gate()
        bench.server["/slow"] = Reply("slow").waiting(for: gate, .afterHead)
        let synchronizer = bench.synchronizer { configuration in
            configuration.maximumLoads = 1
            configuration.observer = recorder
        }
        let slow = Task { try await synchronizer.load(DataResource(url: bench.server.url("/slow"))) }
        try await gate.waitForArrivals(1)
        let results = Collector<SynchronizerError?>()
        synchronizer.loadResource(DataResource(url: bench.server.url("/missing")), on: .global()) {
            if case .error(let error) = $0 { results.append(error as? SynchronizerError) }
        }
        try await waitForSlot()
        bench.clock.advance(by: 7)
        gate.open()
        let errors = try await results.wait(for: 1)
        guard case .status(_, let context)?? = errors.first else {
            Issue.record("\(errors)")
            return
        }
        #expect(context.trace.queueWait == 7)
        _ = try await slow.value
    }

    @Test("files and data URLs load without the cache")
    func otherSchemes() async throws {
        let synchronizer = bench.synchronizer(cacheTime: 100)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("from a file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try await synchronizer.load(DataResource(url: file)) == Data("from a file".utf8))
        try Data("changed".utf8).write(to: file)
        #expect(try await synchronizer.load(DataResource(url: file)) == Data("changed".utf8))
        let data = try #require(URL(string: "data:text/plain,hello"))
        #expect(try await synchronizer.load(DataResource(url: data)) == Data("hello".utf8))
    }

    @Test("a data URL that can't be decoded is a URLError")
    func malformedData() async throws {
        let url = try #require(URL(string: "data:text/plain;base64,%%%"))
        let error = await #expect(throws: SynchronizerError.self) {
            try await bench.synchronizer().load(DataResource(url: url))
        }
        #expect(error?.underlyingError is URLError)
    }
}
