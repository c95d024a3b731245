import Foundation
import FoundationNetworking
import ScriptedServer
import TestTraits
import Testing

@testable import CurlSession

/// What servers of HTTP/2 may send, and a server of HTTP/1.1 may not, or in another form.
@Suite(.bounded) struct HTTP2FrameTests {
    private typealias Frame = HTTP2Server.Frame

    /// `:status: 103` (RFC 7541 §6.2.2).
    private static let interim: [UInt8] = [8, 3] + Array("103".utf8)
    /// `x: y`.
    private static let trailer: [UInt8] = [0, 1, 0x78, 1, 0x79]
    private static let ping = Frame(type: 6, stream: 0, payload: [UInt8](repeating: 0, count: 8))
    /// SETTINGS_MAX_CONCURRENT_STREAMS is 1.
    private static let oneStream: [UInt8] = [0, 3, 0, 0, 0, 1]

    static let responses: [(String, @Sendable (UInt32) -> [HTTP2Server.Frame])] = [
        (
            "interim heads",
            { stream in
                (0..<3).map { _ in .head(stream, block: Self.interim) } + Frame.response(stream, "hello")
            }
        ),
        ("a trailer", { [.head($0), .data($0, "hello", ends: false), .head($0, ends: true, block: Self.trailer)] }),
        ("an empty frame at the end", { [.head($0), .data($0, "hello", ends: false), .data($0, "")] }),
        ("PINGs", { stream in (0..<100).map { _ in Self.ping } + Frame.response(stream, "hello") }),
        ("an unknown frame", { [Frame(type: 99, stream: $0, payload: [1])] + Frame.response($0, "hello") }),
    ]

    @Test(arguments: responses) func `a response is complete`(
        name: String, frames: @escaping @Sendable (UInt32) -> [HTTP2Server.Frame]
    ) async throws {
        let server = try HTTP2Server { request, _ in frames(request.stream) }
        let bench = try Bench.overTLS()
        for _ in 0..<2 { await bench.run { $0.url = server.relay.url() } }
        #expect(bench.recorder.calls == [.head(200), .end(nil), .head(200), .end(nil)], "\(name)")
        #expect(bench.recorder.body == Data("hellohello".utf8) && server.relay.counts.connections == 1, "\(name)")
    }

    static let floods: [(String, @Sendable (UInt32) -> [HTTP2Server.Frame])] = [
        ("interim heads", { stream in (0..<10_000).map { _ in .head(stream, block: Self.interim) } }),
        ("SETTINGS", { _ in (0..<20_000).map { _ in Frame(type: 4, stream: 0, payload: Self.oneStream) } }),
        ("a push", { [Frame(type: 5, flags: 4, stream: $0, payload: [0, 0, 0, 2, 0x82])] }),
    ]

    @Test(arguments: floods) func `what a server must not send fails the load`(
        name: String, frames: @escaping @Sendable (UInt32) -> [HTTP2Server.Frame]
    ) async throws {
        let server = try HTTP2Server { request, _ in frames(request.stream) }
        let bench = try Bench.overTLS(timed: TimedEngine())
        await bench.run { $0.url = server.relay.url() }
        let error: URLError.Code = name == "interim heads" ? .badServerResponse : .networkConnectionLost
        #expect(bench.recorder.calls == [.end(error)], "\(name)")
    }

    @Test func `a body is sent when the server opens its window, which was closed`() async throws {
        // SETTINGS_INITIAL_WINDOW_SIZE is 0.
        let server = try HTTP2Server(
            settings: [0, 4, 0, 0, 0, 0],
            early: { stream, frames in
                frames <= 2 ? [Frame(type: 8, stream: stream, payload: [0, 0, 0, 5])] : []
            }, { request, _ in Frame.response(request.stream, "taken") })
        let bench = try Bench.overTLS(timed: TimedEngine())
        await bench.run {
            ($0.url, $0.httpMethod, $0.httpBody) = (server.relay.url(), "POST", Data("helloworld".utf8))
        }
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(bench.recorder.body == Data("taken".utf8))
    }

    @Test func `an upload times out if the server never opens its window`() async throws {
        let clock = TimedEngine()
        let server = try HTTP2Server(settings: [0, 4, 0, 0, 0, 0]) { _, _ in [] }
        let bench = try Bench.overTLS(timed: clock) { $0.timeoutIntervalForRequest = 10 }
        let task = bench.start {
            ($0.url, $0.httpMethod, $0.httpBody) = (server.relay.url(), "POST", Data("hello".utf8))
        }
        while await bench.onEngine({ task.core.transfer?.hasConnection != true }) { await Task.yield() }
        await clock.settle()
        clock.advance(11)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(.timedOut))
    }

    @Test func `a server may allow fewer streams while loads run`() async throws {
        let count = 8
        let server = try HTTP2Server { request, requests in
            if requests.count == 1 { return Frame.response(request.stream, "hello") }
            guard requests.count != count + 1 else {
                return [Frame(type: 4, stream: 0, payload: Self.oneStream)]
                    + requests.dropFirst().flatMap { Frame.response($0.stream, "hello") }
            }
            return requests.count <= count ? [] : Frame.response(request.stream, "hello")
        }
        let bench = try Bench.overTLS { $0.httpMaximumConnectionsPerHost = 1 }
        await bench.run { $0.url = server.relay.url() }
        for _ in 0..<2 * count { bench.start { $0.url = server.relay.url() } }
        await bench.recorder.waitForEnds(2 * count + 1)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 2 * count + 1)
        #expect(server.relay.counts.connections == 1)
    }

    @Test func `redirects lead from HTTP-2 to HTTP-1_1 and back`() async throws {
        let bench = try Bench.overTLS()
        let target = Array(bench.server.url("/back").absoluteString.utf8)
        // `:status: 302`, and `location`, field 46 of the static table.
        let redirect: [UInt8] = [8, 3] + Array("302".utf8) + [0x0F, 0x1F, UInt8(target.count)] + target
        let server = try HTTP2Server { request, requests in
            requests.count % 2 == 1
                ? [.head(request.stream, ends: true, block: redirect)] : Frame.response(request.stream, "hello")
        }
        bench.server["/back"] = Reply(status: 302, fields: ["Location": server.relay.url().absoluteString])
        for _ in 0..<2 { await bench.run { $0.url = server.relay.url() } }
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 2)
        #expect(bench.recorder.body == Data("hellohello".utf8))
        #expect(server.relay.counts.connections == 1 && bench.server.requests.count == 2)
    }

    /// A server of HTTP/2 may send at any time, also after a task is cancelled. The bytes can't become another response.
    @Test func `a connection is known to be one of HTTP-2 before the first response`() async throws {
        let server = try HTTP2Server { _, _ in [] }
        let bench = try Bench.overTLS()
        let task = bench.start { $0.url = server.relay.url() }
        while server.requests.isEmpty { await Task.yield() }
        let engine = bench.session.pool.engine
        let isKnown = await bench.onEngine {
            task.core.transfer.map { engine.sockets[$0.socket].isMultiplexed && !engine.sockets[$0.socket].isQuiet }
        }
        #expect(isKnown == true)
        task.cancel()
        await bench.recorder.waitForEnds()
    }
}
