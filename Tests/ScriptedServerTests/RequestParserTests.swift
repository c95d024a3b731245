import Foundation
import TestTraits
import Testing

import Synchronizer
@testable import SynchronizerTesting

@Suite("Requests, byte for byte", .bounded)
struct RequestParserTests {
    private static let text = """
        GET /1 HTTP/1.1\r\nA: b\r\n\r\nPUT /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
        3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: t\r\n\r\n\r\nPOST /3 HTTP/1.0\nContent-Length: 2\n\nhi
        """

    private func requests(in bytes: [UInt8], by step: Int) -> [RequestParser.Request] {
        var parser = RequestParser()
        var found: [RequestParser.Request] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { parser.append($0) }
            while case .request(let request) = parser.next() { found.append(request) }
        }
        return found
    }

    @Test("requests are found however the bytes are cut", arguments: 1...40)
    func cuts(step: Int) {
        let found = requests(in: Array(Self.text.utf8), by: step)
        #expect(found.map(\.target) == ["/1", "/2", "/3"])
        #expect(found.map { String(decoding: $0.body, as: UTF8.self) } == ["", "abcde", "hi"])
        #expect(found.first?.fields == [FieldLine(name: "A", value: "b")])
    }

    @Test("no bytes make the parser trap, or keep more than it may")
    func hostile() {
        var random = SeededNumbers(state: 9)
        let valid = Array(Self.text.utf8)
        for _ in 0..<20_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let found = requests(in: bytes, by: Int.random(in: 1...100, using: &random))
            #expect(found.count <= 6)
        }
    }
}

/// SplitMix64: the same numbers each time.
struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
