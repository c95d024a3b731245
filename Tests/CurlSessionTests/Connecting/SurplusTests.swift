import Foundation
import FoundationNetworking
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// Bytes behind a response are not the answer to the next request on the connection.
@Suite(.bounded) struct SurplusTests {
    private static let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

    /// Keeps the engine's thread in a turn.
    private final class Hold: Sendable {
        private let began = Observed(false)
        private let end = DispatchSemaphore(value: 0)

        init(_ engine: Engine) {
            engine.perform { [self] in
                began.update { $0 = true }
                end.wait()
            }
        }

        func wait() async throws { _ = try await began.wait(for: "the turn") { $0 } }
        func release() { end.signal() }
    }

    /// A short body is with libcurl when the task is resumed, and a long one is still to be read.
    @Test(arguments: [5, 100_000])
    func `libcurl chooses no connection with a surplus in the call in which its response ends`(size: Int) async throws {
        let bench = try Bench(timed: TimedEngine())
        let (gate, first) = (Gate(), Data(repeating: UInt8(ascii: "1"), count: size))
        bench.server["/first"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: \(first.count)\r\n\r\n"), .wait(gate),
            .bytes(first + Data(Self.poison.utf8)))
        bench.server["/second"] = Reply("second")
        let task = bench.start("/first")
        while bench.recorder.calls.isEmpty { await Task.yield() }
        task.suspend()
        await bench.settle()
        gate.open()
        try await bench.server.wait(for: "the surplus") { $0.repliesCompleted == 1 }
        // In one call, libcurl reads the rest of the first response and begins the second load.
        let hold = Hold(bench.session.pool.engine)
        try await hold.wait()
        task.resume()
        bench.start("/second")
        hold.release()
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.body == first + Data("second".utf8))
    }

    @Test func `late bytes on one connection do not move a request from a connection of HTTP/2`() async throws {
        let bench = try Bench.overTLS(timed: TimedEngine())
        let gate = Gate()
        bench.server["/"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"), .wait(gate), .text(Self.poison))
        let other = try HTTP2Server { request, _ in HTTP2Server.Frame.response(request.stream, "second") }
        await bench.run()
        await bench.run { $0.url = other.relay.url() }
        await bench.settle()
        let hold = Hold(bench.session.pool.engine)
        try await hold.wait()
        gate.open()
        try await bench.server.wait(for: "the surplus") { $0.repliesCompleted == 1 }
        bench.start { $0.url = other.relay.url() }
        hold.release()
        await bench.recorder.waitForEnds(3)
        #expect(bench.recorder.body == Data("firstsecondsecond".utf8))
        #expect(other.relay.counts.connections == 1)
    }

    /// libcurl closes the connection that was shut down when it next looks at it, which may be much later.
    @Test func `late bytes on one connection do not cost the connection to another server`() async throws {
        let bench = try Bench(timed: TimedEngine())
        let gate = Gate()
        let other = try ScriptedServer { _ in Reply("other") }
        defer { other.stop() }
        bench.server["/"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"), .wait(gate), .text(Self.poison))
        await bench.run { $0.url = other.url() }
        await bench.run()
        gate.open()
        try await bench.server.waitUntilConnectionsClosed()
        for _ in 0..<3 { await bench.run { $0.url = other.url() } }
        #expect(other.counts.connectionsOpened == 1)
        #expect(other.counts.requests == 4)
    }

    /// libcurl reads the bytes of the body that were missing, and OpenSSL keeps the rest of the record.
    @Test func `bytes behind a response in the same TLS record are not the answer to the next request`() async throws {
        let bench = try Bench.overTLS()
        let relay = try TLSRelay(to: bench.server.port)
        let gate = Gate()
        bench.server["/first"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .wait(gate), .text("12345" + Self.poison))
        bench.server["/second"] = Reply("second")
        bench.start { $0.url = relay.url("/first") }
        while bench.recorder.body.isEmpty { await Task.yield() }
        gate.open()
        await bench.recorder.waitForEnds(1)
        await bench.run { $0.url = relay.url("/second") }
        #expect(bench.recorder.body == Data("first12345second".utf8))
    }

    /// The host has spoken HTTP/2 before, so that its next requests might share a connection.
    @Test func `bytes behind a response in the same TLS record are no answer, though the host has spoken HTTP-2`()
        async throws
    {
        let bench = try Bench.overTLS()
        let gate = Gate()
        let server = try HTTP2Server { request, _ in
            HTTP2Server.Frame.response(request.stream, "zero") + [.goAway(last: request.stream)]
        }
        bench.server["/first"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .wait(gate), .text("12345" + Self.poison))
        bench.server["/second"] = Reply("second")
        await bench.run { $0.url = server.relay.url() }
        server.relay.change { ($0.speaksHTTP2, $0.upstream) = (false, bench.server.port) }
        bench.start { $0.url = server.relay.url("/first") }
        while bench.recorder.body.count < 9 { await Task.yield() }
        gate.open()
        await bench.recorder.waitForEnds(2)
        await bench.run { $0.url = server.relay.url("/second") }
        #expect(bench.recorder.body == Data("zerofirst12345second".utf8))
    }

    @Test func `bytes behind the chunks of a redirect that is followed are not the answer to a later request`()
        async throws
    {
        let bench = try Bench()
        let (rest, second) = (Gate(), Gate())
        bench.server["/"] = .script(
            .text("HTTP/1.1 302 Found\r\nLocation: /second\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"),
            .wait(rest), .text("0\r\n\r\n" + Self.poison))
        bench.server["/second"] = Reply("second").waiting(for: second)
        bench.server["/third"] = Reply("third")
        bench.start()
        try await second.waitForArrivals()
        rest.open()
        let pool = bench.session.pool
        while await bench.onEngine({ pool.active.count }) > 1 { await Task.yield() }
        await bench.run("/third")
        second.open()
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.body == Data("thirdsecond".utf8))
        #expect(Set(bench.server.requests.map(\.connection)).count == 3)
    }

    /// The server answers the first request of its first connection, and sends a surplus when it has a part of the second.
    private final class EarlyServer: Sendable {
        let port: UInt16
        private let listener: Int32

        init() throws {
            listener = try Descriptor.listening()
            port = Descriptor.port(of: listener)
            // Inherited by its connections: the rest of a long request is not acknowledged.
            var size: Int32 = 4096
            setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            let listener = listener
            Thread.detachNewThread {
                var number = 0
                while let connection = Descriptor.accepted(listener) {
                    number += 1
                    let number = number
                    Thread.detachNewThread { Self.serve(connection, number) }
                }
                close(listener)
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
        }

        private static func serve(_ connection: Int32, _ number: Int) {
            defer { close(connection) }
            let text = number == 1 ? "first" : "second"
            guard read(connection, toEnd: true) else { return }
            _ = Descriptor.writeAll(
                connection, Array("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)[...])
            guard number == 1, read(connection, toEnd: false) else { return }
            _ = Descriptor.writeAll(connection, Array(poison.utf8)[...])
            var rest: UInt8 = 0
            while recv(connection, &rest, 1, 0) > 0 {}
        }

        /// Reads a byte of a request, or all of it.
        private static func read(_ connection: Int32, toEnd: Bool) -> Bool {
            var (end, byte) = ([UInt8](), UInt8(0))
            repeat {
                guard recv(connection, &byte, 1, 0) == 1 else { return false }
                end = end.suffix(3) + [byte]
            } while toEnd && end != Array("\r\n\r\n".utf8)
            return true
        }
    }

    private func loadTwice(_ method: String) async throws -> Recorder.Notes {
        let server = try EarlyServer()
        let bench = try Bench()
        let url = URL(string: "http://127.0.0.1:\(server.port)/")
        await bench.run { $0.url = url }
        await bench.run {
            ($0.url, $0.httpMethod) = (url, method)
            $0.setValue(String(repeating: "x", count: 500_000), forHTTPHeaderField: "X-Long")
        }
        return bench.recorder.notes.withLock { $0 }
    }

    @Test func `bytes that come before the server has the request are not its answer`() async throws {
        let notes = try await loadTwice("GET")
        #expect(notes.calls == [.head(200), .end(nil), .head(200), .end(nil)])
        #expect(notes.body == Data("firstsecond".utf8))
    }

    @Test func `a request that may not be sent twice fails instead`() async throws {
        let notes = try await loadTwice("POST")
        #expect(notes.calls == [.head(200), .end(nil), .end(.networkConnectionLost)])
    }
}
