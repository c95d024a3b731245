import Foundation
import FoundationNetworking
import TestTraits
import Testing

@testable import CurlSession

/// The ends of responses that libcurl overlooks until more bytes arrive.
@Suite(.bounded) struct HTTP2EndTests {
    private typealias Frame = HTTP2Server.Frame

    /// So many bytes fill libcurl's buffer.
    private static let buffer = 24
    private let clock = TimedEngine()

    /// The frames of a body of so many times 16 KB, without its end.
    private static func pieces(_ count: Int, _ stream: UInt32) -> [HTTP2Server.Frame] {
        (0..<count).map { _ in .data(stream, [UInt8](repeating: 1, count: 16 << 10), ends: false) }
    }

    private func received(_ task: CurlTask, _ bench: Bench) async -> Int {
        await bench.onEngine { task.core.transfer?.receivedOfBody ?? (task.state == .completed ? .max : 0) }
    }

    @Test func `a response whose last bytes are read for another task is complete`() async throws {
        let others = 4
        for _ in 0..<5 {
            let server = try HTTP2Server { request, requests in
                guard requests.count == others + 1 else { return [] }
                return requests.map { .head($0.stream) } + Self.pieces(Self.buffer, request.stream)
                    + [.data(request.stream, "the end")]
            }
            let bench = try Bench.overTLS(timed: clock) { $0.timeoutIntervalForRequest = 1e6 }
            for count in 1...others {
                bench.start { $0.url = server.relay.url() }
                while server.requests.count < count { await Task.yield() }
            }
            let large = bench.start { $0.url = server.relay.url() }
            while await received(large, bench) < Self.buffer << 14 { await Task.yield() }
            while large.state != .completed {
                clock.advance(1)
                await Task.yield()
            }
            #expect(large.error == nil)
            #expect(bench.recorder.body.count == Self.buffer << 14 + 7)
        }
    }

    @Test func `only a large response that stops gets a PING, and one for each time that it stops`() async throws {
        guard CurlVersion.overlooksEnds else { return }
        let server = try HTTP2Server { request, requests in
            switch requests.count {
            case 1: [.head(request.stream)] + Self.pieces(Self.buffer - 1, request.stream)
            case 2: [.head(request.stream)] + Self.pieces(Self.buffer, request.stream)
            default: [.data(requests[1].stream, "more", ends: false)]
            }
        }
        let bench = try Bench.overTLS(timed: clock)
        let small = bench.start { $0.url = server.relay.url() }
        while await received(small, bench) < (Self.buffer - 1) << 14 { await Task.yield() }
        clock.advance(1)
        let large = bench.start { $0.url = server.relay.url() }
        while await received(large, bench) < Self.buffer << 14 { await Task.yield() }
        clock.advance(1)
        while server.pings == 0 { await Task.yield() }
        clock.advance(1)
        bench.start { $0.url = server.relay.url() }
        while await received(large, bench) == Self.buffer << 14 { await Task.yield() }
        clock.advance(1)
        bench.start { $0.url = server.relay.url() }
        while server.pings == 1 || server.requests.count < 4 { await Task.yield() }
        #expect(server.pings == 2)
    }
}
