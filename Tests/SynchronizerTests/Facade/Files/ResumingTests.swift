import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Transfers that died midway", .bounded)
struct ResumingTests {
    let bench: Workbench
    let whole = Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    init() throws {
        bench = try Workbench()
    }

    var resource: DataResource { DataResource(url: bench.server.url("/a")) }

    func reply(_ body: Data, tag: String = "\"1\"") -> Reply { Reply(body, fields: ["ETag": tag]).ranged() }

    /// Loads, and lets so many retries begin as they fall due.
    func load(_ synchronizer: Synchronizer, retries: Int) async throws -> Data {
        async let loaded = synchronizer.load(resource)
        for bound in [0.5, 1].prefix(retries) {
            try await bench.clock.runTimer(after: 0...bound)
        }
        return try await loaded
    }

    func retrying(_ attempts: Int) -> Synchronizer {
        bench.synchronizer { configuration in
            configuration.retry = RetryPolicy()
            configuration.retry.maximumAttempts = attempts
            configuration.retry.totalTime = .infinity
        }
    }

    @Test("go on where they stopped, and where the second try stopped")
    func goOn() async throws {
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(20_000))), reply(whole).failing(.close(.afterBody(15_000))),
            reply(whole), for: "/a")
        #expect(try await load(retrying(3), retries: 2) == whole)
        let ranges = bench.server.requests.map { $0["Range"] }
        #expect(ranges == [nil, "bytes=20000-", "bytes=35000-"])
        #expect(bench.server.requests.map { $0["If-Range"] } == [nil, "\"1\"", "\"1\""])
    }

    @Test("start over at once if the 206 is not the rest, without waiting for its body")
    func misfit() async throws {
        let gate = Gate()
        let other = Reply(Data(count: 200_000), status: 206)
            .adding("ETag", value: "\"2\"").adding("Content-Range", value: "bytes 20000-219999/220000")
            .waiting(for: gate, .afterBody(100))
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(20_000))), other, reply(whole, tag: "\"2\""), for: "/a")
        #expect(try await load(retrying(2), retries: 1) == whole)
        #expect(bench.server.requests.map { $0["Range"] } == [nil, "bytes=20000-", nil])
        gate.open()
    }

    @Test("go on with a date that is a strong validator, and start over if it has changed", arguments: [false, true])
    func dates(hasChanged: Bool) async throws {
        let dates = ["Fri, 01 Jan 2027 00:00:00 GMT", "Sat, 02 Jan 2027 00:00:00 GMT"]
        let other = hasChanged ? Data(repeating: 9, count: 30_000) : whole
        bench.server.enqueue(
            Reply(whole, fields: ["Last-Modified": dates[0]]).ranged().failing(.close(.afterBody(20_000))),
            Reply(other, fields: ["Last-Modified": dates[hasChanged ? 1 : 0]]).ranged(), for: "/a")
        #expect(try await load(retrying(2), retries: 1) == other)
        #expect(bench.server.requests.map { $0["Range"] } == [nil, "bytes=20000-"])
        #expect(bench.server.requests.last?["If-Range"] == dates[0])
        #expect(bench.server.counts.replies[206] == (hasChanged ? nil : 1))
    }

    @Test("start over if the resource has changed in the meantime")
    func changed() async throws {
        let other = Data(repeating: 9, count: 30_000)
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(20_000))), reply(other, tag: "\"2\""), for: "/a")
        #expect(try await load(retrying(2), retries: 1) == other)
        #expect(bench.server.requests.last?["If-Range"] == "\"1\"")
    }

    @Test(
        "start over without a strong validator, or when nothing may be kept",
        arguments: [
            ["Last-Modified": "Fri, 15 Jan 2027 08:00:00 GMT"], ["ETag": "W/\"1\""],
            ["ETag": "W/\"1\"", "Last-Modified": "Fri, 01 Jan 2027 00:00:00 GMT"],
            ["ETag": "\"1\"", "Cache-Control": "no-store"],
        ] as [[String: String]])
    func startOver(fields: [String: String]) async throws {
        var short = Reply(whole).failing(.close(.afterBody(20_000)))
        var complete = Reply(whole)
        for (name, value) in fields {
            short = short.adding(name, value: value)
            complete = complete.adding(name, value: value)
        }
        bench.server.enqueue(short, complete, for: "/a")
        #expect(try await load(retrying(2), retries: 1) == whole)
        #expect(bench.server.requests.map { $0["Range"] } == [nil, nil])
    }

    @Test("leave nothing in the store when no try succeeds")
    func nothingStored() async throws {
        bench.server["/a"] = reply(whole).adding("Cache-Control", value: "max-age=100").failing(
            .close(.afterBody(20_000)))
        let synchronizer = retrying(1)
        await #expect(throws: SynchronizerError.self) { try await load(synchronizer, retries: 0) }
        #expect(bench.cache().cachedResponse(for: resource.request()) == nil)
    }

    @Test("tell how far they are while they go on, and when they start over", arguments: [false, true])
    @MainActor func progress(changes: Bool) async throws {
        let gate = Gate()
        let rest = changes ? reply(Data(repeating: 9, count: 30_000), tag: "\"2\"") : reply(whole)
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(20_000))), rest.waiting(for: gate, .afterBody(10_000)), for: "/a")
        let task = retrying(2).startLoading(resource) { _ in }
        async let retry: Void = bench.clock.runTimer(after: 0...0.5)
        let known =
            changes ? LoadProgress(received: 10_000, expected: 30_000) : .init(received: 30_000, expected: 60_000)
        for await progress in task.progressUpdates {
            if progress == known { gate.open() }
        }
        try await retry
        #expect(task.isFinished)
        #expect(task.progress.fraction == 1)
    }
}
