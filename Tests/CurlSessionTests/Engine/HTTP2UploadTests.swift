import Foundation
import FoundationNetworking
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// Servers that respond before they have the bodies of their requests. None of them ever opens its window.
@Suite(.bounded) struct HTTP2UploadTests {
    private typealias Frame = HTTP2Server.Frame

    /// The fields of a response with a length of 5 bytes: `:status: 200` and `content-length: 5`.
    static let length: [UInt8] = [0x88, 0x0F, 0x0D, 1, 0x35]
    static let noLength: [UInt8] = [0x88]
    /// `:status: 200` and `content-encoding: gzip`.
    static let gzip: [UInt8] = [0x88, 0x0F, 0x0B, 4, 0x67, 0x7A, 0x69, 0x70]

    private func start(_ bench: Bench, _ server: HTTP2Server, size: Int) {
        bench.start {
            $0.url = server.relay.url()
            $0.httpMethod = "POST"
            $0.httpBody = Data(count: size)
        }
    }

    private func sent(_ bench: Bench) -> Int64 {
        bench.recorder.calls.reduce(0) { if case .sent(let total) = $1 { max($0, total) } else { $0 } }
    }

    /// libcurl takes all of the smaller body, but can't send its end.
    @Test(arguments: [100_000, 300_000])
    func `a complete response counts, though the server does not take the rest of the body`(size: Int) async throws {
        let clock = TimedEngine()
        let server = try HTTP2Server(early: { stream, frames in
            frames == 1 ? [.head(stream, block: Self.length), .data(stream, "early")] : []
        }) { _, _ in [] }
        let bench = try Bench.overTLS(timed: clock)
        start(bench, server, size: size)
        while bench.recorder.body.count < 5 || sent(bench) < 100_000 { await Task.yield() }
        // Bytes that libcurl takes after the clock went on count as progress.
        for _ in 0..<3 {
            await clock.settle()
            clock.advance(2)
        }
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(nil))
    }

    /// RFC 9113 §8.1. libcurl notices when it next sends. After a response with a length, it does not read the reset. Without a length,
    /// only the end of a content coding shows that the response is complete.
    @Test(arguments: [true, false])
    func `a coded response counts if it is complete when the server resets the stream`(isCoded: Bool) async throws {
        let isRead = DispatchSemaphore(value: 0)
        let text = Array("early".utf8)
        let (fields, content) = isCoded ? (Self.gzip, Encoder.gzip(text)) : (Self.noLength, text)
        // SETTINGS_INITIAL_WINDOW_SIZE is 1,000. The window of the connection stays open.
        let server = try HTTP2Server(
            settings: [0, 4, 0, 0, 3, 232],
            early: { stream, frames in
                switch frames {
                case 1: return [.head(stream, block: fields), .data(stream, content, ends: true)]
                case 2:
                    isRead.wait()
                    return [.reset(stream, 0)]
                default: return []
                }
            }, { request, _ in Frame.response(request.stream, "first") })
        // Its clock stands still.
        let bench = try Bench.overTLS(timed: TimedEngine())
        await bench.run { $0.url = server.relay.url() }
        start(bench, server, size: 60_000)
        while bench.recorder.body.count < 10 { await Task.yield() }
        isRead.signal()
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.calls.last == .end(isCoded ? nil : .networkConnectionLost))
    }

    /// libcurl does not deliver the bytes that arrive together with the reset. After a `GOAWAY`, it then stops sending without an
    /// error, while another load keeps the connection open.
    @Test(arguments: [Self.noLength, Self.gzip, Self.length], [false, true])
    func `a response that ends together with a reset does not count`(fields: [UInt8], goesAway: Bool) async throws {
        let isRead = DispatchSemaphore(value: 0)
        let server = try HTTP2Server(early: { stream, frames in
            switch frames {
            case 1: return [.head(stream, block: fields)] + (goesAway ? [.goAway(last: stream)] : [])
            case 2:
                isRead.wait()
                return [.data(stream, "early"), .reset(stream, 0)]
            default: return []
            }
        }) { _, _ in [] }
        let bench = try Bench.overTLS(timed: TimedEngine())
        if goesAway {
            bench.start { $0.url = server.relay.url() }
            while server.requests.isEmpty { await Task.yield() }
        }
        start(bench, server, size: 1_000_000)
        while !bench.recorder.calls.contains(.head(200)) { await Task.yield() }
        isRead.signal()
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(.networkConnectionLost))
        #expect(bench.recorder.body.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a response that is cut short does not count`(hasLength: Bool) async throws {
        let (fields, code): ([UInt8], UInt8) = hasLength ? (Self.length, 0) : (Self.noLength, 2)
        let isRead = DispatchSemaphore(value: 0)
        let server = try HTTP2Server(early: { stream, frames in
            switch frames {
            case 1: return [.head(stream, block: fields), .data(stream, "ear", ends: false)]
            case 2:
                isRead.wait()
                return [.reset(stream, code)]
            default: return []
            }
        }) { _, _ in [] }
        let bench = try Bench.overTLS(timed: TimedEngine())
        start(bench, server, size: 300_000)
        while bench.recorder.body.count < 3 { await Task.yield() }
        isRead.signal()
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(.networkConnectionLost))
    }
}
