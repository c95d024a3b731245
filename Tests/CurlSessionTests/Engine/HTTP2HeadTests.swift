import Foundation
import TestTraits
import Testing

@testable import CurlSession

/// Heads of HTTP/2 that do not fit into one frame.
@Suite(.bounded) struct HTTP2HeadTests {
    private typealias Frame = HTTP2Server.Frame

    struct Head: Sendable, CustomTestStringConvertible {
        var count: Int
        var length: Int
        var testDescription: String { "\(count) fields with \(length) bytes" }

        /// The frames: `:status: 200`, then fields `x` (RFC 7541 §6.2.2).
        fileprivate func frames(_ stream: UInt32) -> [HTTP2Server.Frame] {
            let rest = length - 127
            let size = rest < 0 ? [UInt8(length)] : [127, UInt8(rest & 127 | 128), UInt8(rest >> 7)]
            let field: [UInt8] = [0, 1, 0x78] + size + [UInt8](repeating: 0x79, count: length)
            let block = [0x88] + repeatElement(field, count: count).joined()
            let starts = Array(stride(from: 0, to: block.count, by: 16 << 10))
            return starts.map { start in
                let part = Array(block[start..<min(start + 16 << 10, block.count)])
                return Frame(
                    type: start == 0 ? 1 : 9, flags: start == starts.last ? 4 : 0, stream: stream, payload: part)
            }
        }
    }

    static let heads = [
        Head(count: 30, length: 1_000), Head(count: 33, length: 1_000), Head(count: 40, length: 1_000),
        Head(count: 8, length: 8_000), Head(count: 125, length: 1_000), Head(count: 21_000, length: 1),
    ]

    @Test(arguments: heads) func `a large head arrives with its body`(head: Head) async throws {
        let server = try HTTP2Server { request, _ in head.frames(request.stream) + [.data(request.stream, "hello")] }
        let bench = try Bench.overTLS()
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(bench.recorder.heads.first?.fields.count == head.count)
        #expect(bench.recorder.body == Data("hello".utf8))
    }

    @Test func `several large heads arrive on one connection`() async throws {
        let head = Head(count: 40, length: 1_000)
        let server = try HTTP2Server { _, requests in
            guard requests.count == 3 else { return [] }
            return requests.flatMap { head.frames($0.stream) + [.data($0.stream, "hello")] }
        }
        let bench = try Bench.overTLS()
        for _ in 0..<3 { bench.start { $0.url = server.relay.url() } }
        await bench.recorder.waitForEnds(3)
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 3)
        #expect(bench.recorder.heads.map(\.fields.count) == [40, 40, 40])
    }

    @Test(arguments: [Head(count: 135, length: 1_000), Head(count: 27_000, length: 0)])
    func `a head that is too large fails the load`(head: Head) async throws {
        let server = try HTTP2Server { request, _ in head.frames(request.stream) + [.data(request.stream, "hello")] }
        let bench = try Bench.overTLS()
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls == [.end(.networkConnectionLost)])
    }
}
