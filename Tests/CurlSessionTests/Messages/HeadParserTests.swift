import Foundation
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct HeadParserTests {
    /// A head, and what is made of it: `name=value` for each field, or an error.
    struct Case: Sendable, CustomTestStringConvertible {
        var lines: String
        var expected: String
        var testDescription: String { lines }

        init(_ lines: String, _ expected: String) {
            self.lines = lines
            self.expected = expected
        }
    }

    static let cases = [
        // Status lines
        Case("HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200"),
        Case("HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200"),
        Case("HTTP/1.1 200 \r\n\r\n", "HTTP/1.1 200"),
        Case("HTTP/1.0 404 Not Found\r\n\r\n", "HTTP/1.0 404"),
        Case("HTTP/2 200 \r\n\r\n", "HTTP/2 200"),
        Case("HTTP/3 200 \r\n\r\n", "HTTP/3 200"),
        Case("http/1.1  999 x\r\n\r\n", "HTTP/1.1 999"),
        Case("HTTP/1.1 200OK\r\n\r\n", "HTTP/1.1 200"),
        Case("HTTP/1.1 000 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/1.1 99 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/1.1 099 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/1.1 1000 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/1.1 -20 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/1.1 99999999999999999999 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/1.1200 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/0.9 200 OK\r\n\r\n", "malformedStatusLine"),
        Case("HTTP/\r\n\r\n", "malformedStatusLine"),
        Case("\r\n", "malformedStatusLine"),
        Case("HTTP/1.1 101 Switching Protocols\r\n\r\n", "unexpectedUpgrade"),
        Case("HTTP/1.1 302 Found\r\nLocation: /a\r\nlocation: /b\r\n\r\n", "ambiguousLocation"),
        // Field lines
        Case("HTTP/1.1 200 OK\nA: 1\nb:2\na:  3 \t\n\n", "HTTP/1.1 200|A=1|b=2|a=3"),
        Case("HTTP/1.1 200 OK\r\nX-Y:z\r\nBlank:  \r\nEmpty:\r\n\r\n", "HTTP/1.1 200|X-Y=z|Blank=|Empty="),
        Case("HTTP/1.1 200 OK\r\nX: a:b: c\r\n\r\n", "HTTP/1.1 200|X=a:b: c"),
        Case("HTTP/1.1 200 OK\r\nno colon\r\n: x\r\nA B: x\r\n\"q\": x\r\nY: 1\r\n\r\n", "HTTP/1.1 200|Y=1"),
        Case("HTTP/1.1 200 OK\r\nX : a\r\nY\t: b\r\n\r\n", "HTTP/1.1 200|X=a|Y=b"),
        Case("HTTP/1.1 200 OK\r\nX: a \r\n  b\r\n\t\r\n c\r\nY: d\r\n\r\n", "HTTP/1.1 200|X=a b c|Y=d"),
        Case("HTTP/1.1 200 OK\r\n X: a\r\nno colon\r\n more: x\r\nY: d\r\n\r\n", "HTTP/1.1 200|Y=d"),
        Case("HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", "HTTP/1.1 200|X=a b"),
        Case("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "forbiddenByte"),
        Case("HTTP/1.1 200 OK\r\nX: Grüße 😀 e\u{301}\r\n\r\n", "HTTP/1.1 200|X=Grüße 😀 e\u{301}"),
        // Lengths
        Case("HTTP/1.1 200 OK\r\nContent-Length: 05\r\n\r\n", "HTTP/1.1 200|Content-Length=5"),
        Case(
            "HTTP/1.1 200 OK\r\nA: 1\r\ncontent-length: 5, 5\r\nB: 2\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.1 200|A=1|content-length=5|B=2"),
        Case(
            "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
            "HTTP/1.1 200|Content-Length=9223372036854775807"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n", "invalidBodyLength"),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", "invalidBodyLength"),
        Case(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200|Transfer-Encoding=chunked"),
        // Several heads
        Case(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103\r\nLink: x\r\n\r\nHTTP/1.1 204 x\r\nA: 1\r\n\r\n",
            "HTTP/1.1 100;HTTP/1.1 103|Link=x;HTTP/1.1 204|A=1"),
        Case(
            "HTTP/1.1 200 OK\r\n\r\nX-T: 1\r\nHTTP/1.1 200 OK\r\nX-T: 2\r\n\r\n", "HTTP/1.1 200;trailers|X-T=1|X-T=2"
        ),
        Case("HTTP/1.1 200 OK\r\nA: 1\r\n", ""),
    ]

    @Test(arguments: cases) func `heads are read as browsers read them`(_ item: Case) {
        #expect(outcome(Array(item.lines.utf8)) == item.expected)
    }

    @Test func `values that are not UTF-8 are Latin-1`() {
        let line = Array("HTTP/1.1 200 OK\r\nX: Gr".utf8) + [0xFC, 0xDF] + Array("e\r\n\r\n".utf8)
        #expect(outcome(line) == "HTTP/1.1 200|X=Grüße")
    }

    @Test func `100,000 short lines, an endless line and endless interim heads are refused`() {
        let status = "HTTP/1.1 200 OK\r\n"
        #expect(outcome(Array((status + String(repeating: "a:\r\n", count: 100_000)).utf8)) == "tooLarge")
        #expect(outcome(Array((status + "X: " + String(repeating: "a", count: 300_000)).utf8)) == "tooLarge")
        let folds = String(repeating: " \r\n", count: 80_000)
        #expect(outcome(Array((status + "X: a\r\n" + folds + "\r\n").utf8)) == "HTTP/1.1 200|X=a")
        let hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
        #expect(outcome(Array(String(repeating: hint, count: 65).utf8)).hasSuffix("tooManyInterimHeads"))
        let trailers = status + "\r\n" + String(repeating: "a:\r\n", count: 100_000)
        #expect(outcome(Array(trailers.utf8)) == "HTTP/1.1 200;tooLarge")
    }

    @Test func `a head is complete after its empty line`() throws {
        var parser = try HeadParser(url: #require(URL(string: "http://a.test/")))
        for (line, complete) in [("HTTP/1.1 200 OK\r\n", false), ("A: 1\r\n", false), ("\r\n", true)] {
            _ = try Array(line.utf8).withUnsafeBytes { try parser.append($0) }
            #expect(parser.isComplete == complete)
        }
    }

    @Test func `mutations of heads never trap`() {
        var mutator = ByteMutator(seed: 14)
        for item in Self.cases {
            for _ in 0..<300 { _ = outcome(mutator.corrupted(Array(item.lines.utf8))) }
        }
    }

    private func outcome(_ bytes: [UInt8]) -> String {
        var parts: [String] = []
        do {
            var parser = HeadParser(url: URL(fileURLWithPath: "/"))
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast(
                bytes.last == UInt8(ascii: "\n") ? 1 : 0)
            {
                let line = Array(line) + [UInt8(ascii: "\n")]
                let event = try line.withUnsafeBytes { try parser.append($0) }
                switch event {
                case .interim(let head), .final(let head):
                    parts.append(text("\(head.version) \(head.status)", head.fields))
                case nil: break
                }
            }
            if !parser.trailers.isEmpty { parts.append(text("trailers", parser.trailers)) }
        } catch {
            parts.append("\(error)")
        }
        return parts.joined(separator: ";")
    }

    private func text(_ start: String, _ fields: [CurlResponseHead.Field]) -> String {
        ([start] + fields.map { "\($0.name)=\($0.value)" }).joined(separator: "|")
    }
}
