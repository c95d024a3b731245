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

    @Test func `concurrent loads share a connection, more of them than connections are allowed`() async throws {
        let count = 20
        // The first is answered at once. No other is answered until all have come.
        let server = try HTTP2Server { request, requests in
            if requests.count == 1 { return Frame.response(request.stream, "first") }
            return requests.count <= count ? [] : requests.dropFirst().flatMap { Frame.response($0.stream, "together") }
        }
        let bench = try Bench.overTLS { $0.httpMaximumConnectionsPerHost = 2 }
        let first = await bench.run { $0.url = server.relay.url() }
        #expect(first.metrics.protocolName == "h2" && !first.metrics.reusedConnection)
        for _ in 0..<count { bench.start { $0.url = server.relay.url() } }
        await bench.recorder.waitForEnds(count + 1)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == count + 1)
        #expect(server.relay.counts.connections == 1)
    }

    /// The responses may arrive before the server's kernel has acknowledged everything that the session has sent.
    @Test func `the first requests of a connection are sent once`() async throws {
        let server = try HTTP2Server { _, requests in
            requests.count == 2 ? requests.reversed().flatMap { Frame.response($0.stream, "hello") } : []
        }
        for number in 1...10 {
            let bench = try Bench.overTLS()
            for _ in 0..<2 {
                bench.start {
                    $0.url = server.relay.url()
                    $0.httpMethod = "DELETE"
                }
            }
            await bench.recorder.waitForEnds(2)
            #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 2)
            #expect(server.requests.map(\.connection).suffix(2) == [number, number])
        }
    }

    @Test func `a stream that is reset fails alone`() async throws {
        let server = try HTTP2Server { request, requests in
            switch requests.count {
            case 1: [.head(request.stream), .data(request.stream, "half", ends: false)]
            case 2: [.reset(requests[0].stream, 2)] + Frame.response(request.stream, "whole")
            default: Frame.response(request.stream, "after")
            }
        }
        let bench = try Bench.overTLS()
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

    @Test(arguments: ["HEAD", "GET"]) func `a coded response without a body is complete`(method: String) async throws {
        let server = try HTTP2Server { request, _ in
            [.head(request.stream, ends: true, block: HTTP2UploadTests.gzip)]
        }
        let bench = try Bench.overTLS()
        await bench.run { ($0.url, $0.httpMethod) = (server.relay.url(), method) }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
    }

    @Test func `a request that the server refused to begin with is sent again`() async throws {
        let server = try HTTP2Server { request, _ in
            request.connection == 1 ? [.reset(request.stream, 7)] : Frame.response(request.stream, "hello")
        }
        let bench = try Bench.overTLS()
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
        let bench = try Bench.overTLS()
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
        let bench = try Bench.overTLS()
        for _ in 0..<3 { await bench.run { $0.url = server.relay.url() } }
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 3)
        #expect(server.requests.map(\.connection) == [1, 2, 3])
    }

    @Test func `GOAWAY in the middle of a response lets it end`() async throws {
        let server = try HTTP2Server { request, _ in
            [.head(request.stream), .goAway(last: request.stream), .data(request.stream, "hello")]
        }
        let bench = try Bench.overTLS()
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
        let bench = try Bench.overTLS()
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
        let bench = try Bench.overTLS()
        let task = await bench.run { $0.url = relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(task.metrics.protocolName == "http/1.1")
    }

    @Test func `a body is uploaded`() async throws {
        let server = try HTTP2Server { request, _ in Frame.response(request.stream, "taken") }
        let bench = try Bench.overTLS()
        await bench.run {
            $0.url = server.relay.url()
            $0.httpMethod = "POST"
            $0.httpBody = Data(count: 30_000)
        }
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(bench.recorder.body == Data("taken".utf8))
    }
}
