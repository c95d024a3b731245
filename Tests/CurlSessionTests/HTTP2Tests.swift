import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct HTTP2Tests {
    private typealias Frame = HTTP2Server.Frame

    private func bench(
        _ recorder: Recorder = Recorder(), _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> Bench {
        var options = CurlSession.Options()
        options.tls.additionalAuthorities = TestCertificate.authority.text
        return try Bench(recorder, options: options, configure: configure)
    }

    /// A delegate that suspends the first task when it receives the first bytes.
    private func suspending() -> Recorder {
        let isSuspended = Locked(false)
        return Recorder(receiving: { task, _ in
            if isSuspended.withLock({
                let before = $0; $0 = true; return !before
            }) {
                task.suspend()
            }
        })
    }

    /// A server whose first response has so many times 16 KB. Other responses are short.
    private func serverOfLargeBody(pieces: Int) throws -> HTTP2Server {
        let piece = [UInt8](repeating: 7, count: 16 << 10)
        return try HTTP2Server { request, requests in
            guard requests.count == 1 else { return Frame.response(request.stream, "other") }
            let frames = (1...pieces).map {
                Frame(type: 0, flags: $0 == pieces ? 1 : 0, stream: request.stream, payload: piece)
            }
            return [.head(request.stream)] + frames
        }
    }

    /// libcurl 7.88 would read nothing more from the connection, and keep a core busy.
    @Test func `a suspended load does not hold up others on its connection, and gets its body later`() async throws {
        let server = try serverOfLargeBody(pieces: 128)
        let bench = try bench(suspending())
        let first = bench.start { $0.url = server.relay.url() }
        while first.state != .suspended { await Task.yield() }
        for count in 1...3 {
            bench.start { $0.url = server.relay.url() }
            await bench.recorder.waitForEnds(count)
        }
        #expect(first.state == .suspended && first.countOfBytesReceived < 1 << 20)
        first.resume()
        await bench.recorder.waitForEnds(4)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 4)
        #expect(bench.recorder.body.count == 128 << 14 + 15)
        #expect(server.relay.counts.connections == 1)
    }

    @Test func `a suspended load for which others have to take too many bytes fails`() async throws {
        guard CurlVersion.pausesConnections else { return }
        let server = try serverOfLargeBody(pieces: 1_024)
        let bench = try bench(suspending())
        let first = bench.start { $0.url = server.relay.url() }
        while first.state != .suspended { await Task.yield() }
        await bench.run { $0.url = server.relay.url() }
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 1)
        #expect((first.error as? URLError)?.code == .dataLengthExceedsMaximum)
    }

    @Test func `concurrent loads share a connection, more of them than connections are allowed`() async throws {
        let count = 20
        // The first is answered at once. No other is answered until all have come.
        let server = try HTTP2Server { request, requests in
            if requests.count == 1 { return Frame.response(request.stream, "first") }
            return requests.count <= count ? [] : requests.dropFirst().flatMap { Frame.response($0.stream, "together") }
        }
        let bench = try bench { $0.httpMaximumConnectionsPerHost = 2 }
        let first = await bench.run { $0.url = server.relay.url() }
        #expect(first.metrics.protocolName == "h2" && !first.metrics.reusedConnection)
        for _ in 0..<count { bench.start { $0.url = server.relay.url() } }
        await bench.recorder.waitForEnds(count + 1)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == count + 1)
        #expect(server.relay.counts.connections == 1)
    }

    @Test func `a stream that is reset fails alone`() async throws {
        let server = try HTTP2Server { request, requests in
            switch requests.count {
            case 1: [.head(request.stream), .data(request.stream, "half", ends: false)]
            case 2: [.reset(requests[0].stream, 2)] + Frame.response(request.stream, "whole")
            default: Frame.response(request.stream, "after")
            }
        }
        let bench = try bench()
        bench.start { $0.url = server.relay.url() }
        while bench.recorder.body.isEmpty { await Task.yield() }
        bench.start { $0.url = server.relay.url() }
        await bench.recorder.waitForEnds(2)
        await bench.run { $0.url = server.relay.url() }
        let ends = bench.recorder.calls.filter { if case .end = $0 { true } else { false } }
        #expect(ends.filter { $0 == .end(.networkConnectionLost) }.count == 1)
        #expect(ends.filter { $0 == .end(nil) }.count == 2)
        #expect(server.relay.counts.connections == 1)
    }

    @Test func `a request that the server refused to begin with is sent again`() async throws {
        let server = try HTTP2Server { request, _ in
            request.connection == 1 ? [.reset(request.stream, 7)] : Frame.response(request.stream, "hello")
        }
        let bench = try bench()
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(server.requests.map(\.connection) == [1, 2])
    }

    /// RFC 9110 §9.2.2.
    @Test(arguments: [true, false])
    func `a request that must not be sent twice is not sent again once the server has it`(resets: Bool) async throws {
        let server = try HTTP2Server { request, requests in
            guard requests.count == 2 else { return Frame.response(request.stream, "hello") }
            return resets ? [.reset(request.stream, 2)] : nil
        }
        let bench = try bench()
        await bench.run { $0.url = server.relay.url() }
        await bench.run {
            $0.url = server.relay.url()
            $0.httpMethod = "POST"
        }
        #expect(bench.recorder.calls.last == .end(.networkConnectionLost))
        #expect(server.requests.count == 2)
    }

    @Test func `after GOAWAY the next load takes another connection`() async throws {
        let server = try HTTP2Server { request, _ in
            Frame.response(request.stream, "hello") + [.goAway(last: request.stream)]
        }
        let bench = try bench()
        for _ in 0..<3 { await bench.run { $0.url = server.relay.url() } }
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 3)
        #expect(server.requests.map(\.connection) == [1, 2, 3])
    }

    @Test func `GOAWAY in the middle of a response lets it end`() async throws {
        let server = try HTTP2Server { request, _ in
            [.head(request.stream), .goAway(last: request.stream), .data(request.stream, "hello")]
        }
        let bench = try bench()
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(bench.recorder.body == Data("hello".utf8))
    }

    /// What a server must not send: the load fails, at once.
    static let violations: [(String, @Sendable (UInt32) -> [HTTP2Server.Frame])] = [
        ("a body before the head", { [.data($0, "hello")] }),
        ("fields that cannot be decoded", { [.head($0, block: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])] }),
        ("no status", { [.head($0, ends: true, block: [])] }),
        ("a frame that is too large", { [Frame(type: 0, stream: $0, payload: Array(repeating: 0, count: 20_000))] }),
        ("a body longer than its length", { [.head($0, block: [0x88, 0x0F, 0x0D, 1, 0x35]), .data($0, "too long")] }),
        ("a body shorter than its length", { [.head($0, block: [0x88, 0x0F, 0x0D, 1, 0x35]), .data($0, "x")] }),
        ("a GOAWAY that excludes the request", { _ in [.goAway(last: 0, 1)] }),
        ("a reset", { [.reset($0, 1)] }),
        (
            "fields without end",
            { stream in
                [Frame(type: 1, stream: stream, payload: [0x88])]
                    + (0..<5_000).map { _ in Frame(type: 9, stream: stream, payload: Self.field) }
            }
        ),
    ]

    /// `x: yyy…`, a literal of 1,003 bytes.
    private static let field: [UInt8] = [0, 1, 0x78, 0x7F, 0xE9, 0x06] + Array(repeating: 0x79, count: 1_000)

    @Test(arguments: violations) func `what breaks the protocol fails the load`(
        name: String, frames: @escaping @Sendable (UInt32) -> [HTTP2Server.Frame]
    ) async throws {
        let server = try HTTP2Server { request, _ in frames(request.stream) }
        let bench = try bench()
        await bench.run { $0.url = server.relay.url() }
        let end = bench.recorder.calls.last
        #expect(
            [.end(.networkConnectionLost), .end(.badServerResponse), .end(.dataLengthExceedsMaximum)].contains(end),
            "\(name): \(String(describing: end))")
    }

    @Test func `a server that does not speak it is loaded from by HTTP-1_1`() async throws {
        let server = try ScriptedServer { _ in Reply("hello") }
        defer { server.stop() }
        let relay = try TLSRelay(to: server.port)
        let bench = try bench()
        let task = await bench.run { $0.url = relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(task.metrics.protocolName == "http/1.1")
    }

    @Test func `a body is uploaded`() async throws {
        let server = try HTTP2Server { request, _ in Frame.response(request.stream, "taken") }
        let bench = try bench()
        await bench.run {
            $0.url = server.relay.url()
            $0.httpMethod = "POST"
            $0.httpBody = Data(count: 30_000)
        }
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(bench.recorder.body == Data("taken".utf8))
    }
}
