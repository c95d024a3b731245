import Foundation
import ScriptedServer
import TestTraits
import Testing

@testable import SynchronizerTesting

@Suite("Stopping, and many clients", .bounded)
struct StopTests {
    @Test("a server is stopped in the midst of an endless body, twice, and its port is free again")
    func stopAndReturn() async throws {
        let server = try ScriptedServer { _ in Reply("x").failing(.endlessBody) }
        let client = try RawClient(server, get: "/")
        _ = try await client.read(1_000)
        server.stop()
        server.stop()
        #expect(try await client.readToEnd().ending == .reset)
        #expect(server.counts.connectionsOpen == 0)
        #expect(throws: (any Error).self) { try RawClient(server) }

        let next = try ScriptedServer(port: server.port) { _ in Reply("back").closing() }
        #expect(try await RawClient(next, get: "/").readToEnd().text.hasSuffix("back"))
    }

    /// Another thread may have a socket of the same number when the second call comes.
    @Test("a server that two threads stop at once closes its listener once")
    func stopAtOnce() throws {
        let listener = try Socket.listening(port: 0)
        let engine = try ServerEngine(listener: listener, journal: Observed(Journal())) { _ in Reply() }
        engine.shutDown()
        let next = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, listener.descriptor)  // usually the same number
        defer { close(next) }
        engine.shutDown()
        #expect(fcntl(next, F_GETFD) == FD_CLOEXEC)
        engine.loop.start(named: "stopped")
        engine.loop.join()
    }

    @Test("a reply whose client has gone uses up no admission of its gate")
    func goneBeforeAdmission() async throws {
        let gate = Gate()
        let server = try ScriptedServer { Reply($0.target).waiting(for: gate) }
        var gone: RawClient? = try RawClient(server, get: "/gone")
        try await gate.waitForArrivals()
        withExtendedLifetime(gone) {}
        gone = nil
        try await server.wait { $0.connectionsClosed == 1 }
        let client = try RawClient(server, get: "/next")
        try await gate.waitForArrivals(2)
        gate.admit()
        _ = try await client.read(through: "/next")
    }

    @Test("servers are stopped at any moment, while clients come and ask")
    func stopUnderLoad() async throws {
        for round in 0..<30 {
            let server = try ScriptedServer { _ in Reply("hello").chunked(1) }
            let clients = (0..<10).compactMap { _ in try? RawClient(server, get: "/") }
            if round % 3 == 1 { try await server.waitForRequest() }
            if round % 3 == 2 { try await server.waitForRequests(clients.count) }
            server.stop()
            for client in clients { _ = try await client.readToEnd() }
            #expect(server.counts.connectionsOpen == 0)
        }
    }

    @Test("a server that is let go of stops by itself")
    func letGo() async throws {
        var server: ScriptedServer? = try ScriptedServer { _ in Reply("hello").failing(.silence(.afterHead)) }
        let client = try server.map { try RawClient($0, get: "/") }
        try await server?.waitForRequest()
        server = nil
        let ending = try await client?.readToEnd().ending
        #expect(ending == .reset)
    }

    @Test("500 connections are open at once (fewer if the process may open few files), and each gets its own response")
    func manyConnections() async throws {
        let gate = Gate()
        let server = try ScriptedServer { Reply($0.target).waiting(for: gate) }
        // Each has two ends here, and other tests need descriptors too.
        let count = min(500, RawClient.descriptorLimit / 4)
        let clients = try (0..<count).map { try RawClient(server, get: "/\($0)") }
        try await gate.waitForArrivals(count)
        #expect(server.counts.connectionsOpen == count)
        gate.open()
        for (number, client) in clients.enumerated() {
            _ = try await client.read(through: "\r\n\r\n/\(number)")
        }
        #expect(server.counts.repliesCompleted <= count)
        try await server.wait { $0.repliesCompleted == count }
    }

    @Test(
        "clients that make no sense are refused, and the server goes on",
        arguments: [
            ("\0\0\0\0\r\n\r\n", 400), ("GET /\r\n\r\n", 400), ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
            ("PUT / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400),
            ("PUT / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
            ("PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
            (String(repeating: "x", count: 70_000), 431),
        ])
    func refused(text: String, status: Int) async throws {
        let server = try ScriptedServer { _ in Reply("fine").closing() }
        let client = try RawClient(server)
        client.send(text)
        #expect(try await client.readToEnd().text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(server.counts.refusals == 1 && server.counts.requests == 0)
        #expect(try await RawClient(server, get: "/").readToEnd().text.hasSuffix("fine"))
    }
}
