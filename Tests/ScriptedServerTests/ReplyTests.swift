import Foundation
import ScriptedServer
import TestTraits
import Testing

@Suite("Honest replies", .bounded)
struct ReplyTests {
    let server: ScriptedServer

    init() throws {
        server = try ScriptedServer()
    }

    @Test("the fields come in order, repeated ones too, and nothing is added but the framing")
    func fields() async throws {
        server["/"] = Reply("hello", status: 201, fields: ["B": "1", "A": "2", "B": "3"]).closing()
        let answer = try await RawClient(server, get: "/").readToEnd()
        #expect(
            answer.text
                == "HTTP/1.1 201 Created\r\nB: 1\r\nA: 2\r\nB: 3\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        )
        #expect(answer.ending == .closed)
    }

    @Test("chunks have the requested sizes; the last size is for the rest")
    func chunks() async throws {
        server["/"] = Reply("hello world!").chunked(2, 3).closing()
        let answer = try await RawClient(server, get: "/").readToEnd()
        #expect(answer.text.contains("Transfer-Encoding: chunked\r\n"))
        #expect(answer.text.hasSuffix("\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n3\r\n wo\r\n3\r\nrld\r\n1\r\n!\r\n0\r\n\r\n"))
    }

    @Test("a body until the close has no framing")
    func untilClose() async throws {
        server["/"] = Reply("hello").untilClose()
        let answer = try await RawClient(server, get: "/").readToEnd()
        #expect(answer.text == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello")
        #expect(answer.ending == .closed)
    }

    @Test("HEAD gets the head of GET, and the connection goes on", arguments: [false, true])
    func head(chunked: Bool) async throws {
        server["/"] = chunked ? Reply("hello").chunked() : Reply("hello")
        let client = try RawClient(server)
        client.send("HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n")
        let head = try await client.read(through: "\r\n\r\n")
        #expect(head.contains(chunked ? "chunked" : "Content-Length: 5"))
        #expect(try await client.readToEnd().text.hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test("204 and 304 have neither body nor length", arguments: [204, 304])
    func bodiless(status: Int) async throws {
        server["/"] = Reply("not sent", status: status).closing()
        let answer = try await RawClient(server, get: "/").readToEnd()
        #expect(answer.text.hasSuffix("Connection: close\r\n\r\n"))
        #expect(!answer.text.contains("Content-Length"))
    }

    @Test("a connection is kept alive, and pipelined requests are answered in order")
    func keepAlive() async throws {
        let server = try ScriptedServer { Reply($0.target) }
        let client = try RawClient(server)
        client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\nConnection: close\r\n\r\n")
        let bodies = try await client.readToEnd().text.components(separatedBy: "\r\n\r\n").dropFirst()
        #expect(bodies.map { $0.prefix(2) } == ["/1", "/2", "/3"])
        #expect(server.requests.map(\.connection) == [0, 0, 0])
        #expect(server.counts.connectionsOpened == 1)
    }

    @Test("HTTP/1.0 closes, unless the client asks otherwise")
    func oldVersion() async throws {
        server["/"] = Reply("hello")
        let client = try RawClient(server)
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n")
        let answer = try await client.readToEnd()
        #expect(answer.text.components(separatedBy: "HTTP/1.1 200").count == 3)
    }

    @Test("queued replies come once each and in order, then the route, then 404")
    func queue() async throws {
        server.enqueue(Reply("first"), Reply("second"), for: "/a")
        server["/a"] = Reply("then")
        var bodies: [String] = []
        for target in ["/a", "/a?x=1", "/a", "/b"] {
            let text = try await RawClient(server, get: target, "Connection: close").readToEnd().text
            bodies.append(text.components(separatedBy: "\r\n\r\n")[1])
        }
        #expect(bodies == ["first", "second", "then", "no GET /b"])
        #expect(server.counts.replies == [200: 3, 404: 1])
    }

    @Test("a client that waits for leave to send its body gets it")
    func expectContinue() async throws {
        let server = try ScriptedServer { Reply($0.body) }
        let client = try RawClient(server)
        client.send("PUT / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
        #expect(try await client.read(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
        client.send("abc")
        #expect(try await client.readToEnd().text.hasSuffix("\r\n\r\nabc"))
        #expect(server.requests.map(\.method) == ["PUT"])
        #expect(server.counts.repliesCompleted == 1)
    }

    @Test("raw bytes go out as they stand")
    func raw() async throws {
        server["/"] = .raw("ICY 200\n\n")
        #expect(try await RawClient(server, get: "/").readToEnd().text == "ICY 200\n\n")
    }

    @Test("a body of megabytes arrives whole, and its bytes are counted")
    func large() async throws {
        let body = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        server["/"] = Reply(body)
        let client = try RawClient(server, get: "/")
        _ = try await client.read(through: "\r\n\r\n")
        #expect(try await client.read(body.count) == body)
        #expect(server.counts.bodyBytesSent == body.count)
    }
}
