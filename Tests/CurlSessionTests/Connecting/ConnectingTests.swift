import Foundation
import FoundationNetworking
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// Transfers that wait for a connection that libcurl is making for another transfer.
@Suite(.bounded) struct ConnectingTests {
    @Test(arguments: [true, false])
    func `a host that does not answer holds up no other host`(speaksHTTP2: Bool) async throws {
        let silent = try Descriptor.listening()
        defer { close(silent) }
        let bench = try Bench.overTLS(timed: TimedEngine())
        let gate = Gate()
        bench.server["/"] = Reply("hello").waiting(for: gate)
        let server = try HTTP2Server { request, _ in HTTP2Server.Frame.response(request.stream, "hello") }
        if !speaksHTTP2 { server.relay.change { ($0.speaksHTTP2, $0.upstream) = (false, bench.server.port) } }
        let stalled = (0..<6).map { _ in
            bench.start { $0.url = URL(string: "https://127.0.0.1:\(Descriptor.port(of: silent))/") }
        }
        let connection = try #require(Descriptor.accepted(silent))
        for _ in 0..<6 { bench.start { $0.url = server.relay.url() } }
        if !speaksHTTP2 { try await gate.waitForArrivals(6) }  // none ends before all have a connection
        gate.open()
        await bench.recorder.waitForEnds(6)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 6)
        #expect(server.relay.counts.connections == (speaksHTTP2 ? 1 : 6))
        #expect(stalled.allSatisfy { $0.state == .running })
        // One after the other, the tasks find out that there is no connection.
        close(connection)
        shutdown(silent, Int32(SHUT_RDWR))
        await bench.recorder.waitForEnds(12)
    }

    @Test func `on a host of HTTP/2, a stream waits for a connection of its own without timing out`() async throws {
        let clock = TimedEngine()
        let server = try HTTP2Server { request, _ in HTTP2Server.Frame.response(request.stream, "hello") }
        let bench = try Bench.overTLS(timed: clock) {
            ($0.timeoutIntervalForRequest, $0.httpMaximumConnectionsPerHost) = (10, 2)
        }
        await bench.run { $0.url = server.relay.url() }
        let pipe = Pipe()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        pipe.fileHandleForWriting.write(Data("part".utf8))
        for number in 0..<3 {
            let stream = number == 0 ? InputStream(fileAtPath: path) : InputStream(data: Data("whole".utf8))
            bench.start { ($0.url, $0.httpMethod, $0.httpBodyStream) = (server.relay.url(), "POST", stream) }
            if number == 0 { while !bench.recorder.calls.contains(.sent(4)) { await Task.yield() } }
        }
        await clock.settle()
        clock.advance(11)
        await clock.settle()
        #expect(bench.recorder.calls.filter { $0 == .end(.timedOut) }.isEmpty)
        try pipe.fileHandleForWriting.close()
        await bench.recorder.waitForEnds(4)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 4)
    }

    @Test func `a load that waits for a free stream does not time out`() async throws {
        let clock = TimedEngine()
        let gate = DispatchSemaphore(value: 0)
        // SETTINGS_MAX_CONCURRENT_STREAMS is 1.
        let server = try HTTP2Server(settings: [0, 3, 0, 0, 0, 1]) { request, requests in
            if request.connection == 1, requests.count == 2 { gate.wait() }
            return HTTP2Server.Frame.response(request.stream, "hello")
        }
        let bench = try Bench.overTLS(timed: clock) {
            $0.timeoutIntervalForRequest = 10
            $0.httpMaximumConnectionsPerHost = 1
        }
        await bench.run { $0.url = server.relay.url() }
        bench.start {
            ($0.url, $0.timeoutInterval) = (server.relay.url(), 1_000)
        }
        while server.requests.count < 2 { await Task.yield() }
        bench.start { $0.url = server.relay.url() }
        bench.start {
            $0.url = server.relay.url()
            ($0.httpMethod, $0.httpBodyStream) = ("POST", InputStream(data: Data("body".utf8)))
        }
        await clock.settle()
        clock.advance(100)
        await clock.settle()
        #expect(bench.recorder.notes.withLock { $0.ends } == 1)
        gate.signal()
        await bench.recorder.waitForEnds(4)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 4)
    }

    /// Each end makes libcurl try two of the transfers that wait for a connection, whatever their hosts are.
    @Test func `loads that wait for a stream of a host that does not answer hold up no other host`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = { (answers: Bool) in
            // SETTINGS_MAX_CONCURRENT_STREAMS is 1.
            try HTTP2Server(settings: [0, 3, 0, 0, 0, 1]) { request, requests in
                if requests.count == 2, !answers { return [] }
                if requests.count == 2 { gate.wait() }
                return HTTP2Server.Frame.response(request.stream, "hello")
            }
        }
        let (silent, other) = (try server(false), try server(true))
        let bench = try Bench.overTLS(timed: TimedEngine()) { $0.httpMaximumConnectionsPerHost = 1 }
        for server in [silent, other] {
            await bench.run { $0.url = server.relay.url() }
            bench.start { $0.url = server.relay.url() }
            while server.requests.count < 2 { await Task.yield() }
        }
        let pool = bench.session.pool
        for (server, count) in [(silent, 8), (other, 3)] {
            for _ in 0..<count { bench.start { $0.url = server.relay.url() } }
        }
        while await bench.onEngine({ pool.active.values.filter(\.waitsInLibcurl).count }) < 11 { await Task.yield() }
        await bench.settle()
        gate.signal()
        await bench.recorder.waitForEnds(6)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 6)
        #expect(silent.requests.count == 2 && other.requests.count == 5)
    }

    /// Each of them would look at all others.
    @Test func `of many loads that are cancelled while they wait for a connection, the session starts one again`()
        async throws
    {
        let silent = try Descriptor.listening()
        defer { close(silent) }
        let bench = try Bench.overTLS(timed: TimedEngine()) { $0.httpMaximumConnectionsPerHost = 50 }
        let url = URL(string: "https://127.0.0.1:\(Descriptor.port(of: silent))/")
        let tasks = (0..<40).map { _ in bench.start { $0.url = url } }
        let connection = try #require(Descriptor.accepted(silent))
        await bench.settle()
        let pool = bench.session.pool
        let restarts = await bench.onEngine {
            for task in tasks.dropFirst() { task.core.dropTransfer() }
            return pool.restarts.map(\.value)
        }
        #expect(restarts == [1])
        for task in tasks { task.cancel() }
        await bench.recorder.waitForEnds(40)
        close(connection)
    }

    @Test func `connections to two addresses that have the same ports are told apart`() throws {
        let listener = try Descriptor.listening()
        let socket = Descriptor.connected(to: Descriptor.port(of: listener))
        defer { for descriptor in [listener, socket] { close(descriptor) } }
        let ports = ConnectionPorts(of: socket)
        #expect(ports.address == "127.0.0.1" && ports.peer == Descriptor.port(of: listener))
        let other = ConnectionPorts(address: "127.0.0.2", peer: ports.peer, own: ports.own)
        let reset = ConnectionPorts(own: ports.own)
        #expect(ports.matches(ports) && !ports.matches(other) && ports.matches(reset))
    }
}
