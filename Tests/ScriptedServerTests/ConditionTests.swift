import Foundation
import ScriptedServer
import TestTraits
import Testing

@Suite("Validators and ranges", .bounded)
struct ConditionTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:49:38 GMT"
    private static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"

    private func ask(_ fields: String..., method: String = "GET") async throws -> String {
        let server = try ScriptedServer()
        server["/"] = Reply(
            "0123456789",
            fields: ["ETag": "\"1\"", "Last-Modified": Self.date, "Content-Type": "text/plain", "Age": "7"]
        ).conditional().ranged()
        let client = try RawClient(server)
        let lines = fields.map { $0 + "\r\n" }.joined()
        client.send("\(method) / HTTP/1.1\r\n\(lines)Connection: close\r\n\r\n")
        return try await client.readToEnd().text
    }

    @Test(
        "304 where the validators match (RFC 9110 §13.1)",
        arguments: [
            ("If-None-Match: \"1\"", true), ("If-None-Match: W/\"1\"", true), ("If-None-Match: \"0\", \"1\"", true),
            ("If-None-Match: *", true), ("If-None-Match: \"2\"", false),
            ("If-Modified-Since: \(date)", true), ("If-Modified-Since: \(later)", true),
            ("If-Modified-Since: \(earlier)", false), ("If-Modified-Since: yesterday", false),
        ])
    func condition(field: String, matches: Bool) async throws {
        let answer = try await ask(field)
        #expect(answer.hasPrefix(matches ? "HTTP/1.1 304 " : "HTTP/1.1 200 "))
        #expect(answer.hasSuffix(matches ? "\r\n\r\n" : "0123456789"))
        #expect(answer.contains("ETag: \"1\"\r\n") && answer.contains("Age: 7\r\n"))
        #expect(answer.contains("Content-Type") == !matches)
    }

    @Test("the entity tag decides where both are sent (RFC 9110 §13.2.2)")
    func precedence() async throws {
        let answer = try await ask("If-None-Match: \"2\"", "If-Modified-Since: \(Self.later)")
        #expect(answer.hasPrefix("HTTP/1.1 200 "))
    }

    @Test("other methods are answered as usual")
    func methods() async throws {
        #expect(try await ask("If-None-Match: \"1\"", method: "POST").hasPrefix("HTTP/1.1 200 "))
    }

    @Test(
        "206 and the bytes that were asked for (RFC 9110 §14)",
        arguments: [
            ("bytes=0-3", "0-3", "0123"), ("bytes=5-", "5-9", "56789"), ("bytes=-2", "8-9", "89"),
            ("bytes=8-99", "8-9", "89"), ("bytes=-99", "0-9", "0123456789"), ("bytes=9-9", "9-9", "9"),
        ])
    func range(range: String, sent: String, body: String) async throws {
        let answer = try await ask("Range: \(range)")
        #expect(answer.hasPrefix("HTTP/1.1 206 Partial Content\r\n"))
        #expect(answer.contains("Content-Range: bytes \(sent)/10\r\n"))
        #expect(answer.contains("Content-Length: \(body.count)\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n" + body))
    }

    @Test("416 where nothing is there", arguments: ["bytes=10-", "bytes=-0"])
    func unsatisfiable(range: String) async throws {
        let answer = try await ask("Range: \(range)")
        #expect(answer.hasPrefix("HTTP/1.1 416 "))
        #expect(answer.contains("Content-Range: bytes */10\r\n"))
    }

    @Test(
        "the whole where the range means nothing, or is one of several",
        arguments: ["bytes=a-b", "bytes=3-1", "bytes=-", "lines=1-2", "bytes=0-1,3-4", "bytes=1-x", "bytes=1-2-3"])
    func ignored(range: String) async throws {
        let answer = try await ask("Range: \(range)")
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("0123456789"))
    }

    @Test(
        "If-Range wants a strong match (RFC 9110 §13.1.5)",
        arguments: [("\"1\"", 206), ("\"2\"", 200), ("W/\"1\"", 200), (date, 206), (later, 200)])
    func ifRange(validator: String, status: Int) async throws {
        let answer = try await ask("Range: bytes=0-1", "If-Range: \(validator)")
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    }

    @Test("dates are written as HTTP writes them")
    func dates() {
        func written(_ seconds: TimeInterval) -> String? {
            Reply().adding("Date", date: Date(timeIntervalSince1970: seconds)).fields["Date"]
        }
        #expect(written(784_111_777) == Self.date)
        #expect(written(0.9) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}
