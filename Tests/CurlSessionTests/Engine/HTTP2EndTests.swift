import Foundation
import FoundationNetworking
import TestTraits
import Testing

@testable import CurlSession

/// The ends of responses that libcurl overlooks until more bytes arrive.
@Suite(.bounded) struct HTTP2EndTests {
    private typealias Frame = HTTP2Server.Frame

    /// So many times 16 KB fill libcurl's buffer.
    private static let buffer = 24
    private let clock = TimedEngine()

    private func bench() throws -> Bench {
        try .overTLS(timed: clock, bufferSize: Self.buffer << 14) { $0.timeoutIntervalForRequest = 1e6 }
    }

    /// The frames of a body of so many times 16 KB, without its end.
    private static func pieces(_ count: Int, _ stream: UInt32) -> [HTTP2Server.Frame] {
        (0..<count).map { _ in .data(stream, [UInt8](repeating: 1, count: 16 << 10), ends: false) }
    }

    private func received(_ task: CurlTask, _ bench: Bench) async -> Int {
        await bench.onEngine { task.core.transfer?.receivedOfBody ?? (task.state == .completed ? .max : 0) }
    }

    /// The head has two bytes, or a field of 2 KB (RFC 7541 §6.2.2).
    @Test(arguments: [false, true]) func `a response whose last bytes are read for another task is complete`(
        hasField: Bool
    ) async throws {
        let field = [0, 1, UInt8(ascii: "x"), 0x7F, 0xD1, 0x0E] + [UInt8](repeating: UInt8(ascii: "a"), count: 2_000)
        let head = [0x88] + (hasField ? field : [])
        let (pieces, rest) = hasField ? (Self.buffer - 1, 14_668) : (Self.buffer, 7)
        let others = 4
        for _ in 0..<5 {
            let server = try HTTP2Server { request, requests in
                guard requests.count == others + 1 else { return [] }
                return requests.map { .head($0.stream, block: head) } + Self.pieces(pieces, request.stream)
                    + [.data(request.stream, [UInt8](repeating: 2, count: rest), ends: true)]
            }
            let bench = try bench()
            for count in 1...others {
                bench.start { $0.url = server.relay.url() }
                while server.requests.count < count { await Task.yield() }
            }
            let large = bench.start { $0.url = server.relay.url() }
            while large.state != .completed {
                clock.advance(0.01)
                await Task.yield()
            }
            #expect(large.error == nil)
            #expect(bench.recorder.body.count == pieces << 14 + rest)
        }
    }

    @Test(arguments: ["GET", "POST"], [false, true]) func `beside a large response, an end may be uncertain`(
        method: String, hasLength: Bool
    ) async throws {
        guard CurlVersion.overlooksEnds else { return }
        // `content-length: 2`, as a literal field (RFC 7541 §6.2.2).
        let length: [UInt8] = hasLength ? [0x0F, 0x0D, 1, UInt8(ascii: "2")] : []
        for refuses in [false, true] {
            let server = try HTTP2Server(
                afterPing: { _ in [.head(1, block: [0x88] + length), .data(1, "hi")] },
                { request, requests in
                    if request.connection > 1 { return Frame.response(request.stream, "hi") }
                    return requests.count < 2 ? [] : [.head(request.stream)] + Self.pieces(Self.buffer, request.stream)
                })
            let bench = try Bench.overTLS(
                timed: clock, bufferSize: Self.buffer << 14, refusesUncertainEnds: refuses
            ) { $0.timeoutIntervalForRequest = 1e6 }
            let task = bench.start {
                $0.url = server.relay.url()
                $0.httpMethod = method
            }
            while server.requests.isEmpty { await Task.yield() }
            let large = bench.start { $0.url = server.relay.url() }
            while task.state != .completed {
                clock.advance(0.01)
                await Task.yield()
            }
            let isRefused = refuses && method == "GET" && !hasLength
            #expect((task.error as? URLError)?.code == (isRefused ? .networkConnectionLost : nil))
            // A later request gets a connection of its own.
            await bench.run { $0.url = server.relay.url() }
            #expect(bench.recorder.calls.last == .end(nil) && large.state == .running)
        }
    }

    /// Otherwise it might have to wait for minutes. A length makes the end certain.
    @Test(arguments: [false, true])
    func `if no more connections are allowed, a request shares that of a large response`(refuses: Bool) async throws {
        guard CurlVersion.overlooksEnds else { return }
        let server = try HTTP2Server { request, requests in
            switch requests.count {
            case 2 where request.connection == 1: [.head(request.stream)] + Self.pieces(Self.buffer, request.stream)
            case 3: [.head(request.stream, block: HTTP2UploadTests.length), .data(request.stream, "hello")]
            default: Frame.response(request.stream, "hi")  // no length
            }
        }
        let bench = try Bench.overTLS(
            timed: clock, bufferSize: Self.buffer << 14, refusesUncertainEnds: refuses
        ) { $0.httpMaximumConnectionsPerHost = 1 }
        await bench.run { $0.url = server.relay.url() }
        let large = bench.start { $0.url = server.relay.url() }
        while await received(large, bench) < Self.buffer << 14 { await Task.yield() }
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls.last == .end(nil))
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls.last == .end(refuses ? .networkConnectionLost : nil))
        #expect(server.relay.counts.connections == 1 && large.state == .running)
        guard refuses else { return }
        // The same request, sent again, waits.
        let again = (0..<2).map { _ in bench.start { $0.url = server.relay.url() } }
        await bench.settle()
        #expect(await bench.onEngine { again.allSatisfy { $0.core.transfer?.waitsInLibcurl == true } })
        large.cancel()
        await bench.recorder.waitForEnds(6)
        #expect(again.allSatisfy { $0.error == nil } && server.requests.count == 6)
    }

    @Test func `a response may claim the greatest length`() async throws {
        let length = Array("9223372036854775807".utf8)
        let server = try HTTP2Server { request, requests in
            guard requests.count == 1, request.connection == 1 else { return Frame.response(request.stream, "hi") }
            let head = Frame.head(request.stream, block: [0x88, 0x0F, 0x0D, UInt8(length.count)] + length)
            return [head, .data(request.stream, "hello", ends: false)]
        }
        let bench = try bench()
        let first = bench.start { $0.url = server.relay.url() }
        while first.countOfBytesReceived < 5 { await Task.yield() }
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls.last == .end(nil) && first.state == .running)
    }

    private static let fewPieces = 7

    @Test func `only a large response that stops gets a PING, and one for each time that it stops`() async throws {
        guard CurlVersion.overlooksEnds else { return }
        let server = try HTTP2Server(
            afterPing: { $0 == 1 ? [.data(3, "more", ends: false)] : [] },
            { request, requests in
                [.head(request.stream)]
                    + Self.pieces(requests.count == 1 ? Self.fewPieces : Self.buffer, request.stream)
            })
        let bench = try bench()
        let small = bench.start { $0.url = server.relay.url() }
        while await received(small, bench) < Self.fewPieces << 14 { await Task.yield() }
        clock.advance(1)
        let large = bench.start { $0.url = server.relay.url() }
        while await received(large, bench) < Self.buffer << 14 { await Task.yield() }
        clock.advance(1)
        while await received(large, bench) == Self.buffer << 14 { await Task.yield() }
        for count in 2...4 {
            clock.advance(1)
            while server.pings < min(count, 2) { await Task.yield() }
            #expect(await bench.onEngine { large.core.transfer?.pingTime } == .max)
        }
        #expect(server.pings == 2 && large.state == .running && small.state == .running)
    }

    /// Outside of libcurl's calls, libcurl 7.88.1 would use a null pointer if it can't write.
    @Test func `a PING on a connection that is lost is no crash`() async throws {
        guard CurlVersion.overlooksEnds else { return }
        let server = try HTTP2Server { request, _ in [.head(request.stream)] + Self.pieces(1, request.stream) }
        let bench = try bench()
        let task = bench.start { $0.url = server.relay.url() }
        while await received(task, bench) < 1 << 14 { await Task.yield() }
        let isLost = await bench.onEngine {
            guard let transfer = task.core.transfer, let easy = transfer.easy else { return false }
            let result = shutdown(transfer.socket, Int32(SHUT_RDWR))
            let isSent = transfer.sendPing(easy)
            // libcurl has to learn of the end.
            let watched = clock.engine.sockets[transfer.socket].watched
            return result == 0 && isSent && watched & Epoll.input != 0
        }
        await bench.recorder.waitForEnds()
        #expect(isLost && bench.recorder.calls.last == .end(.networkConnectionLost))
    }
}
