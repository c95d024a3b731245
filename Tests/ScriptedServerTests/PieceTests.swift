import Foundation
import ScriptedServer
import TestTraits
import Testing

@Suite("Scripted pieces", .bounded)
struct PieceTests {
    let server: ScriptedServer

    init() throws {
        server = try ScriptedServer()
    }

    @Test("pieces are sent in order and repeated, and the connection is closed or reset")
    func order() async throws {
        server["/close"] = .script(.text("a"), .again([.text("b"), .again([.text("c")], times: 2)], times: 3), .close)
        server["/reset"] = .script(.text("a"), .again([.text("b")], times: 0), .reset)
        let closed = try await RawClient(server, get: "/close").readToEnd()
        #expect(closed.text == "abccbccbcc")
        #expect(closed.ending == .closed)
        let reset = try await RawClient(server, get: "/reset").readToEnd()
        #expect(reset.text == "a")
        #expect(reset.ending == .reset)
    }

    @Test("a script that does not end its connection leaves it open for the next request")
    func keepsAlive() async throws {
        server["/"] = .script(.text("one"))
        let client = try RawClient(server, get: "/")
        #expect(try await client.read(3) == Data("one".utf8))
        client.send("GET / HTTP/1.1\r\n\r\n")
        #expect(try await client.read(3) == Data("one".utf8))
        #expect(server.counts.connectionsOpened == 1)
    }

    @Test("a gate admits one piece at a time, while other connections are served")
    func pace() async throws {
        let gate = Gate()
        server["/"] = .script(.again([.text("x"), .wait(gate)], times: nil))
        server["/other"] = .raw("other")
        let client = try RawClient(server, get: "/")
        for count in 1...5 {
            #expect(try await client.read(1) == Data("x".utf8))
            try await gate.waitForArrivals(count)
            #expect(try await RawClient(server, get: "/other").readToEnd().text == "other")
            gate.admit()
        }
        gate.admit(2)
        #expect(try await client.read(3) == Data("xxx".utf8))
    }

    @Test("pieces without end are sent until the client leaves")
    func endless() async throws {
        server["/"] = .script(.again([.text("ab")], times: nil))
        do {
            let client = try RawClient(server, get: "/")
            #expect(try await client.read(100_000).suffix(4) == Data("abab".utf8))
        }
        try await server.waitUntilConnectionsClosed()
        #expect(server.counts.repliesAbandoned == 1)
    }

    @Test("a request can be answered before its body comes, which is read and ignored")
    func early() async throws {
        server.answerEarly(at: "/early")
        server["/early"] = .script(.text("no"), .close)
        let client = try RawClient(server)
        client.send("POST /early HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n")
        #expect(try await client.read(2) == Data("no".utf8))
        client.send(Data(count: 3_000_000))
        client.leave()
        try await server.waitUntilConnectionsClosed()
        #expect(server.requests.map(\.body) == [Data()])
    }
}
