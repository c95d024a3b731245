import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Stale while it is revalidated, through the façade", .bounded)
struct StaleWhileRevalidateTests {
    let bench: Workbench
    let synchronizer: Synchronizer
    let fields: KeyValuePairs = ["ETag": "\"1\"", "Cache-Control": "max-age=10, stale-while-revalidate=100"]

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
    }

    func phases(_ resource: LoadingTests.Counted) async throws -> [String] {
        var phases: [String] = []
        for try await update in synchronizer.updates(of: resource) {
            phases.append(String("\(update.phase)".prefix { $0 != "(" }))
        }
        return phases
    }

    @Test("load returns the stale object at once, and the server gets one request for all loads")
    func load() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("old", fields: fields)
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        bench.server["/a"] = Reply("new", fields: ["ETag": "\"2\"", "Cache-Control": "max-age=10"])
            .waiting(for: gate, .beforeHead)
        for _ in 0..<3 {
            let loaded = try await synchronizer.loaded(resource)
            #expect(loaded.object == Data("old".utf8))
            #expect(loaded.source == .stale)
        }
        try await gate.waitForArrivals(1)
        gate.open()
        try await bench.server.wait(for: "the new reply") { $0.repliesCompleted == 2 }
        #expect(bench.server.counts.requests == 2)
    }

    @Test("updates give the stale object, and then the result of the one revalidation", arguments: [false, true])
    func updates(isConfirmed: Bool) async throws {
        bench.server["/a"] = Reply("old", fields: fields).conditional()
        let resource = LoadingTests.Counted(url: bench.server.url("/a"), parses: Locked(0))
        #expect(try await phases(resource) == ["fresh"])
        synchronizer.removeAllObjects()
        bench.clock.advance(by: 20)
        if !isConfirmed {
            bench.server["/a"] = Reply("newer", fields: ["ETag": "\"2\"", "Cache-Control": "max-age=10"])
        }
        #expect(try await phases(resource) == ["stored", isConfirmed ? "unchanged" : "fresh"])
        #expect(bench.server.counts.requests == 2)
        #expect(resource.parses.withLock { $0 } == (isConfirmed ? 2 : 3))
    }

    @Test(
        "updates end with the stale object if the server cannot be reached, with a validator and without",
        arguments: [false, true])
    func unreachable(hasValidator: Bool) async throws {
        var reply = Reply("old", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=100"])
        if hasValidator { reply = reply.adding("ETag", value: "\"1\"") }
        bench.server["/a"] = reply
        let resource = LoadingTests.Counted(url: bench.server.url("/a"), parses: Locked(0))
        #expect(try await phases(resource) == ["fresh"])
        synchronizer.removeAllObjects()
        bench.clock.advance(by: 20)
        bench.server["/a"] = Reply("").failing(.reset(.beforeHead))
        #expect(try await phases(resource) == ["stored", "stale"])
    }

    @Test("updates ask a server that cannot be reached once, although they have no validator")
    func withoutValidator() async throws {
        let recorder = ObservingTests.Recorder()
        let synchronizer = bench.synchronizer { $0.observer = recorder }
        bench.server["/a"] = Reply("old", fields: ["Cache-Control": "max-age=10"])
        let resource = LoadingTests.Counted(url: bench.server.url("/a"), parses: Locked(0))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        bench.server["/a"] = Reply("").failing(.reset(.beforeHead))
        let last = try await synchronizer.updates(of: resource).reduce(nil) { $1.phase }
        #expect(last == .stale)
        #expect(recorder.names.count { $0 == "sent" } == 2)  // the session may send again on another connection
    }

    @Test("updates wait for the revalidation behind a redirect, too")
    func redirected() async throws {
        bench.server["/start"] = Reply.redirect(to: "/a")
        bench.server["/a"] = Reply("old", fields: fields)
        let resource = LoadingTests.Counted(url: bench.server.url("/start"), parses: Locked(0))
        #expect(try await phases(resource) == ["fresh"])
        synchronizer.removeAllObjects()
        bench.clock.advance(by: 20)
        bench.server["/a"] = Reply("newer", fields: ["ETag": "\"2\"", "Cache-Control": "max-age=10"])
        #expect(try await phases(resource) == ["stored", "fresh"])
        #expect(bench.server.requests.count { $0.path == "/a" } == 2)
    }

    @Test("updates end although the cache time is not a number")
    func notANumber() async throws {
        bench.server["/a"] = Reply("old", fields: fields)
        let resource = Timed(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        synchronizer.removeAllObjects()
        bench.clock.advance(by: 20)
        bench.server["/a"] = Reply("newer", fields: ["ETag": "\"2\"", "Cache-Control": "max-age=10"])
        let updates = try await synchronizer.updates(of: resource).reduce(into: []) { $0.append($1.object) }
        #expect(updates == [Data("old".utf8), Data("newer".utf8)])
    }

    private struct Timed: Resource {
        let url: URL
        var cacheTime: TimeInterval? { .nan }
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Data { { $0 } }
    }

    @Test("a validation that ends while updates wait for a network slot is not repeated")
    func waiting() async throws {
        let (blocking, validating) = (Gate(), Gate())
        bench.server["/a"] = Reply("old", fields: fields)
        bench.server["/b"] = Reply("b").waiting(for: blocking)
        let needs = Collector<URL?>()
        let synchronizer = bench.synchronizer {
            $0.maximumLoads = 1
            $0.observer = NeedsNetwork(events: needs)
        }
        let resource = DataResource(url: bench.server.url("/a"))
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        bench.server["/a"] = Reply("new", fields: ["ETag": "\"2\"", "Cache-Control": "max-age=10"])
            .waiting(for: validating, .beforeHead)
        let blocked = Task { try await synchronizer.load(DataResource(url: bench.server.url("/b"))) }
        try await blocking.waitForArrivals()
        let updates = Task {
            try await synchronizer.updates(of: resource).reduce(into: []) { $0.append($1.object) }
        }
        try await needs.wait(for: 3)
        validating.open()
        while try await synchronizer.loaded(resource).source == .stale {}
        blocking.open()
        #expect(try await updates.value == [Data("old".utf8), Data("new".utf8)])
        _ = try await blocked.value
        #expect(bench.server.counts.requests == 3)
    }

    @Test("the configuration sets the default for stale responses: while revalidated, on errors, or not at all")
    func configured() async throws {
        let revalidating = bench.synchronizer { $0.staleWhileRevalidate = 100 }
        let tolerant = bench.synchronizer { $0.staleIfError = 100 }
        let strict = bench.synchronizer { $0.staleIfUnreachable = 0 }
        for (path, synchronizer) in [("/a", revalidating), ("/b", tolerant), ("/c", strict)] {
            let resource = DataResource(url: bench.server.url(path))
            bench.server[path] = Reply("old", fields: ["Cache-Control": "max-age=10"])
            _ = try await synchronizer.load(resource)
            synchronizer.removeAllObjects()
            bench.clock.advance(by: 20)
            bench.server[path] = Reply("down", status: 503)
            if synchronizer === strict {
                bench.server.stop()
                await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
            } else {
                #expect(try await synchronizer.loaded(resource).source == .stale)
            }
        }
    }

    @Test("if another load has replaced the stale response, the new one is used after an error", arguments: [5, 20])
    func replaced(age: TimeInterval) async throws {
        let (resource, gate) = (DataResource(url: bench.server.url("/b")), Gate())
        let tolerant = bench.synchronizer { $0.staleIfError = 100 }
        bench.server["/b"] = Reply("old", fields: ["Cache-Control": "max-age=10"])
        _ = try await tolerant.load(resource)
        tolerant.removeAllObjects()
        bench.clock.advance(by: 20)
        bench.server["/b"] = Reply("down", status: 503).waiting(for: gate, .beforeHead)
        let loaded = Task { try await tolerant.loaded(resource) }
        try await gate.waitForArrivals()
        bench.server["/b"] = Reply("new", fields: ["Cache-Control": "max-age=10"])
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: age)
        gate.open()
        let answer = try await loaded.value
        #expect(answer.object == Data("new".utf8) && answer.source == (age < 10 ? .cache : .stale))
    }
}
