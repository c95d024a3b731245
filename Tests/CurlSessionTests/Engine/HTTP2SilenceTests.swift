import Foundation
import FoundationNetworking
import TestTraits
import Testing

@testable import CurlSession

/// Connections of HTTP/2 that have gone silent. New connections would work.
@Suite(.bounded) struct HTTP2SilenceTests {
    private typealias Frame = HTTP2Server.Frame

    private let clock = TimedEngine()

    private func bench() throws -> Bench { try .overTLS(timed: clock) { $0.timeoutIntervalForRequest = 10 } }

    /// Starts a load, and returns when the server has its request.
    private func start(_ bench: Bench, _ server: HTTP2Server) async {
        let count = server.requests.count
        bench.start { $0.url = server.relay.url() }
        while server.requests.count == count { await Task.yield() }
    }

    @Test func `the last load that times out on a silent connection makes the next one connect anew`() async throws {
        let server = try HTTP2Server { request, requests in
            request.connection > 1 || requests.count == 1 ? Frame.response(request.stream, "hello") : []
        }
        let bench = try bench()
        await bench.run { $0.url = server.relay.url() }
        await start(bench, server)
        clock.advance(5)
        await start(bench, server)
        clock.advance(6)
        await bench.recorder.waitForEnds(2)
        await start(bench, server)
        #expect(server.requests.map(\.connection) == [1, 1, 1, 1])
        clock.advance(11)
        await bench.recorder.waitForEnds(4)
        await start(bench, server)
        await bench.recorder.waitForEnds(5)
        #expect(server.requests.map(\.connection) == [1, 1, 1, 1, 2])
        #expect(bench.recorder.calls.filter { $0 == .end(.timedOut) }.count == 3)
        #expect(bench.recorder.calls.last == .end(nil))
    }

    @Test func `a load that times out does not end a connection that answers others`() async throws {
        let server = try HTTP2Server { request, requests in
            requests.count == 2 ? [] : Frame.response(request.stream, "hello")
        }
        let bench = try bench()
        await bench.run { $0.url = server.relay.url() }
        await start(bench, server)
        clock.advance(5)
        await bench.run { $0.url = server.relay.url() }
        clock.advance(6)
        await bench.recorder.waitForEnds(3)
        await bench.run { $0.url = server.relay.url() }
        #expect(server.requests.map(\.connection) == [1, 1, 1, 1])
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 3)
    }

    @Test func `a server that allows no more streams holds up one load`() async throws {
        let server = try HTTP2Server { request, _ in
            // SETTINGS_MAX_CONCURRENT_STREAMS is 0.
            Frame.response(request.stream, "hello") + [Frame(type: 4, stream: 0, payload: [0, 3, 0, 0, 0, 0])]
        }
        let bench = try bench()
        await bench.run { $0.url = server.relay.url() }
        let task = bench.start { $0.url = server.relay.url() }
        while await bench.onEngine({ task.core.transfer?.hasConnection != true }) { await Task.yield() }
        clock.advance(11)
        await bench.recorder.waitForEnds(2)
        await bench.run { $0.url = server.relay.url() }
        #expect(server.requests.map(\.connection) == [1, 2])
        #expect(bench.recorder.calls.last == .end(nil))
    }
}
