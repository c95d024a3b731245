import Foundation
import ScriptedServer
import TestTraits
import Testing

@Suite("Faults", .bounded)
struct FaultTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

    private func answer(_ reply: Reply) async throws -> (text: String, ending: RawClient.Ending) {
        let server = try ScriptedServer { _ in reply }
        return try await RawClient(server, get: "/").readToEnd()
    }

    /// What has been sent when each moment comes.
    private static let moments: [(Reply.Moment, String)] = [
        (.beforeHead, ""), (.midHead, String(decoding: Array(head.utf8).prefix(head.utf8.count / 2), as: UTF8.self)),
        (.afterHead, head),
        (.afterBody(0), head), (.afterBody(3), head + "hel"), (.afterBody(5), head + "hello"),
        (.afterBody(99), head + "hello"),
    ]

    @Test("the connection is closed at each moment", arguments: moments)
    func close(moment: Reply.Moment, sent: String) async throws {
        let answer = try await answer(Reply("hello").failing(.close(moment)))
        #expect(answer.text == sent)
        #expect(answer.ending == .closed)
    }

    @Test("the connection is reset at each moment", arguments: moments)
    func reset(moment: Reply.Moment, sent: String) async throws {
        let answer = try await answer(Reply("hello").failing(.reset(moment)))
        #expect(answer.text == sent)
        #expect(answer.ending == .reset)
    }

    @Test("nothing more is said from each moment on, until the server is stopped", arguments: moments)
    func silence(moment: Reply.Moment, sent: String) async throws {
        let server = try ScriptedServer { _ in Reply("hello").failing(.silence(moment)) }
        let client = try RawClient(server, get: "/")
        try await server.waitForRequest()
        #expect(try await String(decoding: client.read(sent.utf8.count), as: UTF8.self) == sent)
        server.stop()
        let rest = try await client.readToEnd()
        #expect(rest.text.isEmpty)
        #expect(rest.ending == .reset)
    }

    @Test("a fault between two chunks and one within a chunk")
    func betweenChunks() async throws {
        let between = try await answer(Reply("hello").chunked(2).failing(.close(.afterBody(4))))
        #expect(between.text.hasSuffix("\r\n\r\n2\r\nhe\r\n2\r\nll\r\n"))
        let within = try await answer(Reply("hello").chunked(2).failing(.reset(.afterBody(3))))
        #expect(within.text.hasSuffix("\r\n\r\n2\r\nhe\r\n2\r\nl"))
    }

    @Test("a length that is too large ends in a close, one that is too small in a surplus", arguments: [9, 2])
    func wrongLength(length: Int) async throws {
        let server = try ScriptedServer { _ in Reply("hello").failing(.contentLength(length)) }
        let client = try RawClient(server, get: "/")
        #expect(try await client.read(through: "hello").contains("Content-Length: \(length)\r\n"))
        if length > 5 { #expect(try await client.readToEnd().ending == .closed) }
    }

    @Test(
        "chunks are broken in each way",
        arguments: [
            (Reply.Fault.badChunkSize(after: 3), "2\r\nhe\r\n1\r\nl\r\nno size\r\n"),
            (.badChunkSize(after: 0), "\r\n\r\nno size\r\n"),
            (.missingLastChunk, "2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n"),
        ])
    func brokenChunks(fault: Reply.Fault, end: String) async throws {
        let answer = try await answer(Reply("hello").chunked(2).failing(fault))
        #expect(answer.text.hasSuffix(end))
        #expect(answer.ending == .closed)
    }

    @Test("chunks can lack the line break behind them")
    func missingChunkEnd() async throws {
        let answer = try await answer(Reply("hello").chunked(2).failing(.missingChunkEnd).closing())
        #expect(answer.text.hasSuffix("\r\n\r\n2\r\nhe2\r\nll1\r\no0\r\n\r\n"))
    }

    @Test("a fault of the chunks makes a reply chunked that was not")
    func chunksOfPlainReply() async throws {
        let answer = try await answer(Reply("hello").failing(.missingLastChunk))
        #expect(answer.text.hasSuffix("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n"))
    }

    @Test(
        "the head can hold garbage",
        arguments: zip(
            Reply.Garbage.allCases,
            [Array("this line has no colon\r\n".utf8), Array("a\0b\r\n".utf8), [0x66, 0xE9, 0x0D, 0x0A]]))
    func garbage(garbage: Reply.Garbage, bytes: [UInt8]) async throws {
        let server = try ScriptedServer { _ in Reply("hello").failing(.garbageField(garbage)) }
        let client = try RawClient(server, get: "/")
        let head = try await client.read(server.replyHeadSize(garbage))
        #expect(head.range(of: Data(bytes + [0x0D, 0x0A])) != nil)
    }

    @Test("an endless body goes on until the client goes", arguments: [Reply("ab"), Reply("ab").chunked(1)])
    func endless(reply: Reply) async throws {
        let server = try ScriptedServer { _ in reply.failing(.endlessBody) }
        do {
            let client = try RawClient(server, get: "/")
            let bytes = try await client.read(3_000_000)
            #expect(String(decoding: bytes.suffix(20), as: UTF8.self).contains("ab"))
        }
        try await server.waitUntilConnectionsClosed()
        #expect(server.counts.repliesAbandoned == 1)
    }

    @Test("an endless body ends, too, when the server writes before it hears that the client has reset the connection")
    func endlessToNobody() async throws {
        let server = try ScriptedServer()
        let (gate, isHeld, mayGoOn) = (Gate(), Observed(false), DispatchSemaphore(value: 0))
        server["/endless"] = Reply("ab").waiting(for: gate, .afterBody(2)).failing(.endlessBody)
        server.handle("/hold") { _ in
            isHeld.update { $0 = true }
            mayGoOn.wait()
            return Reply()
        }
        var client: RawClient? = try RawClient(server, get: "/endless")
        try client?.resetsWhenGone()
        try await gate.waitForArrivals()
        let holder = try RawClient(server, get: "/hold")
        _ = try await isHeld.wait(for: "the server's thread to be held") { $0 }
        client = nil
        gate.open()
        // The reply now goes on before the reset is read: jobs come before sockets.
        mayGoOn.signal()
        try await server.wait(for: "the endless reply to be given up") { $0.connectionsResetByPeer == 1 }
        withExtendedLifetime(holder) {}
    }
}

extension ScriptedServer {
    /// The size of the head of “hello” with that garbage.
    fileprivate func replyHeadSize(_ garbage: Reply.Garbage) -> Int {
        let line = [Reply.Garbage.withoutColon: 24, .nul: 12, .byteAbove127: 15][garbage] ?? 0
        return "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8.count + line
    }
}
