import Foundation
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct IncomingBodyTests {
    /// A body of a response with these fields.
    private func body(_ fields: (String, String)...) throws -> IncomingBody { try body(fields) }

    private func body(_ fields: [(String, String)], status: Int = 200) throws -> IncomingBody {
        var body = IncomingBody()
        let url = try #require(URL(string: "http://a.test/"))
        body.begin(
            .init(url: url, version: "HTTP/1.1", status: status, fields: fields.map { .init(name: $0, value: $1) }))
        return body
    }

    @Test(arguments: ["20480", "5", "9223372036854775807", "99999999999999999999", "x"])
    func `pieces become one, whatever length the head names`(length: String) throws {
        var body = try body(("Content-Length", length))
        let bytes = (0..<20_480).map { UInt8(truncatingIfNeeded: $0) }
        for range in [0..<16_384, 16_384..<20_480] {
            bytes[range].withUnsafeBytes { body.gather($0) { _ in Issue.record("delivered early") } }
        }
        #expect(body.take() == Data(bytes))
        #expect(body.take().isEmpty)
    }

    @Test func `a body has arrived when its framing says so`() throws {
        for (fields, status, isAtOnce, isAfterwards) in [
            ([("Content-Length", "5")], 200, false, true), ([("Content-Length", "6")], 200, false, false),
            ([("Content-Length", "0")], 200, true, true), ([("Content-Length", "5")], 304, true, true),
            ([], 204, true, true), ([], 200, false, false), ([("Transfer-Encoding", "chunked")], 200, false, false),
            ([("Content-Length", "5"), ("Content-Encoding", "gzip")], 200, false, true),
        ] as [([(String, String)], Int, Bool, Bool)] {
            var body = try body(fields, status: status)
            #expect(body.hasArrived == isAtOnce)
            body.arrived(2)
            body.arrived(3)
            #expect(body.hasArrived == isAfterwards)
        }
    }

    @Test func `a large piece is delivered at once`() throws {
        var (body, delivered) = (try body(), Data())
        let bytes = [UInt8](repeating: 7, count: 16 << 10)
        for _ in 0..<5 { bytes.withUnsafeBytes { body.gather($0) { delivered += $0 } } }
        #expect(delivered.count == IncomingBody.maximumPiece)
        #expect(body.take().count == 16 << 10)
    }

    @Test func `a plain body that waits is gathered only when there is room`() throws {
        var (body, delivered) = (try body(), 0)
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 16)
        defer { scratch.deallocate() }
        [UInt8](repeating: 7, count: 100).withUnsafeBytes { body.append($0) }
        try body.pump(scratch, whileRoom: { false }, deliver: { delivered += $0.count })
        #expect(!body.isEmpty && body.take().isEmpty)
        try body.pump(scratch, whileRoom: { true }, deliver: { delivered += $0.count })
        #expect(body.isEmpty && delivered + body.take().count == 100)
    }

    @Test func `a coded body is decoded only while there is room`() throws {
        var (body, room, delivered) = (try body(("Content-Encoding", "gzip")), 0, 0)
        let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000, alignment: 16)
        defer { scratch.deallocate() }
        let coded = Encoder.gzip([UInt8](repeating: 7, count: 100_000))
        coded.withUnsafeBytes { body.append($0) }
        #expect(!body.isDirect && !body.isEmpty)
        try body.pump(scratch, whileRoom: { false }, deliver: { _ in })
        #expect(body.take().isEmpty)
        room = 3
        try body.pump(
            scratch,
            whileRoom: {
                room -= 1
                return room >= 0
            }, deliver: { delivered += $0.count })
        #expect(delivered == 0 && body.take().count == 3_000)
        try body.pump(scratch, whileRoom: { true }, deliver: { delivered += $0.count })
        #expect(delivered + body.take().count == 97_000 && body.isEmpty)
        try body.finish()
    }
}
