import Foundation
import ScriptedServer
import TestTraits
import Testing

@Suite("A test's view of a server", .bounded)
struct ObservationTests {
    @Test("a request is recorded with its fields, in order, and its body")
    func recorded() async throws {
        let server = try ScriptedServer { _ in Reply() }
        let client = try RawClient(server)
        client.send("POST /a/b?x=1&y=%20 HTTP/1.1\r\nB: 1\r\nA:  2 \r\nb: 3\r\nContent-Length: 2\r\n\r\nhi")
        let request = try await server.waitForRequest()
        #expect(request.method == "POST" && request.path == "/a/b" && request.query == "x=1&y=%20")
        #expect(request.queryValue("y") == " ")
        #expect(
            request.fields.prefix(3) == [
                FieldLine(name: "B", value: "1"), FieldLine(name: "A", value: "2"), FieldLine(name: "b", value: "3"),
            ])
        #expect(request["B"] == "1, 3")
        #expect(request.body == Data("hi".utf8))
    }

    @Test("a reply waits at gates: before the head, in it, after it, and in the body")
    func gates() async throws {
        let server = try ScriptedServer()
        let moments: [Reply.Moment] = [.beforeHead, .midHead, .afterHead, .afterBody(2)]
        let gates = moments.map { ($0, Gate()) }
        server["/"] = gates.reduce(Reply("hello").closing()) { $0.waiting(for: $1.1, $1.0) }
        let client = try RawClient(server, get: "/")
        for (moment, gate) in gates {
            try await gate.waitForArrivals()
            #expect(server.counts.replies == (moment == .beforeHead ? [:] : [200: 1]))
            #expect(server.counts.bodyBytesSent == (moment == .afterBody(2) ? 2 : 0))
            gate.open()
        }
        #expect(try await client.readToEnd().text.hasSuffix("\r\n\r\nhello"))
        #expect(server.counts.bodyBytesSent == 5)
    }

    @Test("an open gate lets through at once, and counts")
    func openGate() async throws {
        let gate = Gate()
        gate.open()
        gate.open()
        let server = try ScriptedServer { _ in Reply("hello").waiting(for: gate).closing() }
        _ = try await RawClient(server, get: "/").readToEnd()
        #expect(gate.isOpen && gate.arrivals == 1)
    }

    @Test("a client that goes is seen at once, even while its reply waits")
    func departure() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Reply("hello").waiting(for: gate) }
        let client = try RawClient(server, get: "/")
        try await gate.waitForArrivals()
        client.leave()
        try await server.waitUntilConnectionsClosed()
        #expect(server.counts.repliesAbandoned == 1)
        #expect(server.counts.connectionsClosedByPeer == 1)
        gate.open()
        #expect(server.counts.replies.isEmpty)
    }

    @Test("a client that resets is distinguished from one that closes")
    func reset() async throws {
        let server = try ScriptedServer { _ in Reply("hello").failing(.silence(.beforeHead)) }
        do {
            let client = try RawClient(server, get: "/")
            try client.resetsWhenGone()
            try await server.waitForRequest()
        }
        try await server.waitUntilConnectionsClosed()
        #expect(server.counts.connectionsResetByPeer == 1)
    }

    @Test("a wait fails when the server is stopped")
    func stoppedWhileWaiting() async throws {
        let server = try ScriptedServer()
        let waiting = Task { try await server.waitForRequests(1) }
        server.stop()
        let error = await #expect(throws: WaitError.self) { try await waiting.value }
        #expect(error.map { "\($0)" }?.contains("1 requests") == true)
    }

    @Test("a wait can be cancelled")
    func cancelledWait() async throws {
        let server = try ScriptedServer()
        let waiting = Task { try await server.waitForRequests(1) }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("the cost of a part is a difference of counts")
    func difference() async throws {
        let server = try ScriptedServer()
        server["/"] = Reply("hello").closing()
        _ = try await RawClient(server, get: "/").readToEnd()
        let before = server.counts
        _ = try await RawClient(server, get: "/").readToEnd()
        _ = try await RawClient(server, get: "/none", "Connection: close").readToEnd()
        let cost = server.counts - before
        #expect(cost.requests == 2)
        #expect(cost.replies == [200: 1, 404: 1])
        #expect(cost.connectionsOpened == 2)
    }

    @Test("of very many requests the latest are kept, and all are counted")
    func capacity() async throws {
        let server = try ScriptedServer { Reply($0.target) }
        server.keepRequests(atMost: 10)
        let client = try RawClient(server)
        client.send((0..<100).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined())
        try await server.waitForRequests(100)
        #expect(server.counts.requests == 100)
        #expect(server.requests.count <= 10)
        #expect(server.requests.last?.target == "/99")
    }

    @Test("a lower limit also drops requests that were already kept", arguments: [-1, 0, 3])
    func loweredCapacity(_ capacity: Int) async throws {
        let server = try ScriptedServer { Reply($0.target) }
        let client = try RawClient(server)
        client.send((0..<100).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined())
        try await server.waitForRequests(100)
        server.keepRequests(atMost: capacity)
        #expect(server.requests.map(\.target) == ["/97", "/98", "/99"].suffix(max(0, capacity)))
        client.send("GET /100 HTTP/1.1\r\n\r\n")
        try await server.waitForRequests(101)
        #expect(server.requests.count <= max(0, capacity))
        #expect(server.counts.requests == 101)
    }
}
