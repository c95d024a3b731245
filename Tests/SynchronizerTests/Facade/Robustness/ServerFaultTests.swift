import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// Faults at each phase of a reply, and the result that each fault must have.
@Suite("Faults of the server", .bounded)
struct ServerFaultTests {
    /// How the body of the faulty reply is framed.
    enum Framing: CaseIterable { case length, chunks }

    struct Case: Sendable, CustomTestStringConvertible {
        let fault: Reply.Fault
        let framing: Framing
        var testDescription: String { "\(fault), \(framing)" }
    }

    /// Before the head, in it, after it, in the body, and between two chunks of 1,000 bytes.
    static let phases: [Reply.Moment] = [
        .beforeHead, .midHead, .afterHead, .afterBody(10), .afterBody(1_000), .afterBody(4_999),
    ]

    /// Those that leave no whole body.
    static let broken: [Case] =
        phases.flatMap { phase in
            Framing.allCases.flatMap { framing in
                [Case(fault: .close(phase), framing: framing), Case(fault: .reset(phase), framing: framing)]
            }
        } + [
            Case(fault: .badChunkSize(after: 0), framing: .chunks),
            Case(fault: .badChunkSize(after: 10), framing: .chunks),
            Case(fault: .missingChunkEnd, framing: .chunks), Case(fault: .missingLastChunk, framing: .chunks),
            Case(fault: .contentLength(6_000), framing: .length),
        ]

    static let silences = phases.flatMap { phase in
        Framing.allCases.map { Case(fault: .silence(phase), framing: $0) }
    }

    let bench: Workbench
    let whole = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0) })

    init() throws {
        bench = try Workbench()
    }

    var resource: DataResource { DataResource(url: bench.server.url("/a")) }

    /// Without a validator, so that it cannot be gone on with: that needs no second try (`IncompleteTests`).
    func reply(_ fault: Case) -> Reply {
        let reply = Reply(whole, fields: ["Cache-Control": "max-age=100"])
        return (fault.framing == .chunks ? reply.chunked(1_000) : reply).failing(fault.fault)
    }

    /// Has "old" stored, and past its lifetime. Its connection is not used again: on one that was kept alive libcurl
    /// itself would send a request a second time.
    func storeOld(_ synchronizer: Synchronizer) async throws {
        bench.server["/a"] = Reply("old", fields: ["ETag": "\"1\"", "Cache-Control": "max-age=100"]).closing()
        _ = try await synchronizer.load(resource)
        synchronizer.removeAllObjects()
        bench.clock.advance(by: 200)
    }

    /// The body that the store has.
    func stored(_ synchronizer: Synchronizer) async throws -> Data {
        synchronizer.removeAllObjects()
        var request = resource.request()
        request.cachePolicy = .returnCacheDataDontLoad
        return try await synchronizer.load(DataResource(request: request))
    }

    var reload: DataResource {
        var request = resource.request()
        request.cachePolicy = .reloadIgnoringLocalCacheData
        return DataResource(request: request)
    }

    @Test("without retries it is an error, the store is unchanged, and the next load succeeds", arguments: broken)
    func retryOff(fault: Case) async throws {
        let synchronizer = bench.synchronizer()
        try await storeOld(synchronizer)
        bench.server["/a"] = reply(fault)
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(reload) }
        guard case .transport? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await stored(synchronizer) == Data("old".utf8))
        try await synchronizer.waitUntilIdle()
        bench.server["/a"] = Reply(whole, fields: ["ETag": "\"2\"", "Cache-Control": "max-age=100"])
        #expect(try await synchronizer.load(reload) == whole)
        #expect(try await stored(synchronizer) == whole)
    }

    @Test("with retries the next response is delivered and stored", arguments: broken)
    func retryOn(fault: Case) async throws {
        let synchronizer = bench.synchronizer { $0.retry = RetryPolicy() }
        try await storeOld(synchronizer)
        let requests = bench.server.counts.requests
        bench.server.enqueue(reply(fault), for: "/a")
        bench.server["/a"] = Reply(whole, fields: ["ETag": "\"2\"", "Cache-Control": "max-age=100"])
        bench.clock.runAtOnce(within: 0.5)
        #expect(try await synchronizer.load(reload) == whole)
        #expect(bench.server.counts.requests == requests + 2)
        #expect(try await stored(synchronizer) == whole)
    }

    @Test("silence can be left at any phase, and leaves nothing", arguments: silences)
    func silence(fault: Case) async throws {
        let synchronizer = bench.synchronizer { $0.retry = RetryPolicy() }
        try await storeOld(synchronizer)
        bench.server["/a"] = reply(fault)
        let load = Task { [reload] in try await synchronizer.load(reload) }
        try await bench.server.waitForRequests(2)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        try await synchronizer.waitUntilIdle()
        try await bench.server.waitUntilConnectionsClosed()
        #expect(try await stored(synchronizer) == Data("old".utf8))
    }

    @Test("silence fails with the request's time-out", arguments: [Reply.Moment.beforeHead, .afterBody(10)])
    func timeout(moment: Reply.Moment) async throws {
        let synchronizer = bench.synchronizer()
        try await storeOld(synchronizer)
        bench.server["/a"] = reply(Case(fault: .silence(moment), framing: .length))
        var request = reload.request()
        request.timeoutInterval = 1
        let error = await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(DataResource(request: request))
        }
        #expect((error?.underlyingError as? URLError)?.code == .timedOut)
        #expect(try await stored(synchronizer) == Data("old".utf8))
    }

    @Test("a body without end is cut off at the limit")
    func endless() async throws {
        let synchronizer = bench.synchronizer { $0.maximumResponseSize = 100_000 }
        try await storeOld(synchronizer)
        // The client must keep up, even under a sanitizer: it reads all arrived bytes before it notices that the load is cancelled.
        bench.server.limitBandwidth(to: 8 << 20)
        bench.server["/a"] = Reply(whole).chunked(1_000).failing(.endlessBody)
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(reload) }
        guard case .tooLarge(limit: 100_000, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        try await bench.server.waitUntilConnectionsClosed()
        #expect(try await stored(synchronizer) == Data("old".utf8))
    }

    @Test(
        "a line in the head that is no field is an error or is passed over, and the body is whole if there is one",
        arguments: Reply.Garbage.allCases)
    func garbage(garbage: Reply.Garbage) async throws {
        let synchronizer = bench.synchronizer()
        try await storeOld(synchronizer)
        bench.server["/a"] = reply(Case(fault: .garbageField(garbage), framing: .length))
        let data = try? await synchronizer.load(reload)
        #expect(data == nil || data == whole)
        #expect(try await stored(synchronizer) == data ?? Data("old".utf8))
        try await synchronizer.waitUntilIdle()
    }
}
