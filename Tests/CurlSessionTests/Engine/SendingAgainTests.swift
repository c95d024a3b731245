import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// libcurl sends a request again of its own accord. These tests are about when it may, and what it sends then.
@Suite(.bounded) struct SendingAgainTests {
    private typealias Frame = HTTP2Server.Frame

    /// How a kept connection ends before a response.
    enum Ending: CaseIterable { case reset, alert, silence }

    /// RFC 9110 §9.2.2. After a reset, libcurl would send any request again, and otherwise none.
    @Test(arguments: [("POST", ""), ("POST", "body"), ("PUT", "body"), ("DELETE", "")], Ending.allCases)
    func `a kept connection of HTTP/2 ends after a request`(
        request: (method: String, body: String), ending: Ending
    ) async throws {
        let (method, body) = request
        let server = try HTTP2Server(resets: ending == .reset) { request, requests in
            requests.count == 2 ? nil : Frame.response(request.stream, "hello")
        }
        if ending == .silence { server.relay.change { $0.ending = .silence } }
        let bench = try Bench.overTLS()
        await bench.run { $0.url = server.relay.url() }
        await bench.run {
            ($0.url, $0.httpMethod) = (server.relay.url(), method)
            if !body.isEmpty { $0.httpBody = Data(body.utf8) }
        }
        #expect(bench.recorder.calls.last == .end(method == "POST" ? .networkConnectionLost : nil))
        #expect(server.requests.map(\.connection) == (method == "POST" ? [1, 1] : [1, 1, 2]))
    }

    /// RFC 9113 §6.8: the server has not processed the request. But libcurl does not say that there was a `GOAWAY`.
    @Test(arguments: ["GET", "POST"], [true, false])
    func `a GOAWAY excludes a request`(method: String, isKept: Bool) async throws {
        let server = try HTTP2Server { request, requests in
            request.connection == 1 && requests.count == (isKept ? 2 : 1)
                ? [.goAway(last: isKept ? 1 : 0)] : Frame.response(request.stream, "hello")
        }
        let bench = try Bench.overTLS()
        if isKept { await bench.run { $0.url = server.relay.url() } }
        await bench.run { ($0.url, $0.httpMethod) = (server.relay.url(), method) }
        #expect(bench.recorder.calls.last == .end(method == "POST" ? .networkConnectionLost : nil))
        #expect(server.requests.map(\.connection) == (isKept ? [1, 1] : [1]) + (method == "POST" ? [] : [2]))
    }

    @Test func `a request is sent again once if no connection answers it`() async throws {
        let server = try HTTP2Server { _, _ in [.goAway(last: 0)] }
        let bench = try Bench.overTLS()
        await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls == [.end(.networkConnectionLost)])
        #expect(server.requests.map(\.connection) == [1, 2])
    }

    /// libcurl finds only the alert, and takes the connection for alive.
    @Test func `a connection of HTTP/2 that has ended while it was idle is not used again`() async throws {
        let server = try HTTP2Server { request, _ in Frame.response(request.stream, "hello") }
        let bench = try Bench.overTLS()
        await bench.run { $0.url = server.relay.url() }
        server.endConnections()
        let pool = bench.session.pool
        let hasEnded: @Sendable () -> Bool = {
            var sockets = pool.ownSockets.map { pollfd(fd: $0, events: Int16(Epoll.hangUp), revents: 0) }
            return poll(&sockets, nfds_t(sockets.count), 0) > 0
        }
        while await !bench.onEngine(hasEnded) { await Task.yield() }
        await bench.run { ($0.url, $0.httpMethod) = (server.relay.url(), "POST") }
        #expect(bench.recorder.calls.filter { $0 == .end(nil) }.count == 2)
        #expect(server.requests.map(\.connection) == [1, 2])
    }

    @Test func `a kept connection of HTTP/2 is reset after the requests of two tasks`() async throws {
        let server = try HTTP2Server(resets: true) { request, requests in
            requests.count == 1 ? Frame.response(request.stream, "hello") : requests.count == 2 ? [] : nil
        }
        let bench = try Bench.overTLS()
        await bench.run { $0.url = server.relay.url() }
        for _ in 0..<2 {
            bench.start {
                $0.url = server.relay.url()
                $0.httpMethod = "POST"
            }
        }
        await bench.recorder.waitForEnds(3)
        #expect(bench.recorder.calls.suffix(2) == [.end(.networkConnectionLost), .end(.networkConnectionLost)])
        #expect(server.requests.count == 3)
    }

    /// RFC 9113 §8.7: the server has not processed the request. On a kept connection, libcurl does not say so.
    @Test(arguments: [("POST", true), ("POST", false), ("PUT", true)])
    func `a request that a server of HTTP/2 refuses is sent again`(method: String, isKept: Bool) async throws {
        let server = try HTTP2Server { request, requests in
            request.connection == 1 && requests.count == (isKept ? 2 : 1)
                ? [.reset(request.stream, 7)] : Frame.response(request.stream, "hello")
        }
        let bench = try Bench.overTLS()
        if isKept { await bench.run { $0.url = server.relay.url() } }
        await bench.run {
            ($0.url, $0.httpMethod, $0.httpBody) = (server.relay.url(), method, Data("body".utf8))
        }
        let isSentAgain = method == "PUT" || !isKept
        #expect(bench.recorder.calls.last == .end(isSentAgain ? nil : .networkConnectionLost))
        #expect(server.requests.map(\.connection) == (isKept ? [1, 1] : [1]) + (isSentAgain ? [2] : []))
    }

    /// libcurl does not deliver a head that arrives together with a reset.
    static let reset: [(String, @Sendable (UInt32) -> [HTTP2Server.Frame])] = [
        ("a head and a reset", { [.head($0), .reset($0, 0)] })
    ]

    @Test(arguments: HTTP2Tests.violations + reset)
    func `a POST on a kept connection of HTTP/2 is sent once, whatever the server sends`(
        name: String, frames: @escaping @Sendable (UInt32) -> [HTTP2Server.Frame]
    ) async throws {
        let server = try HTTP2Server { request, requests in
            requests.count == 1 ? Frame.response(request.stream, "hello") : frames(request.stream)
        }
        let bench = try Bench.overTLS()
        for method in ["GET", "POST"] {
            await bench.run { ($0.url, $0.httpMethod) = (server.relay.url(), method) }
        }
        #expect(server.requests.count == 2, "\(name)")
    }

    // MARK: The body

    /// libcurl rewinds a body only if it has passed bytes of it to the kernel. It may have read some that TLS could not send.
    @Test func `a body is sent from its first byte on whenever a request begins`() async throws {
        let bench = try Bench()
        bench.server["/"] = .script(.hold)
        let task = bench.start { ($0.httpMethod, $0.httpBody) = ("POST", Data("body".utf8)) }
        try await bench.server.waitForRequests(1)
        let sent = await bench.onEngine { () -> Data? in
            guard let transfer = task.core.transfer, transfer.beginSending(on: ConnectionPorts()) else { return nil }
            var space = [UInt8](repeating: 0, count: 100)
            let count = space.withUnsafeMutableBytes(transfer.send)
            return Data(space.prefix(count))
        }
        #expect(sent == Data("body".utf8))
    }

    @Test func `a body is sent again, whole, if a kept connection ends in the middle of it`() async throws {
        let body = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 / 1000) })
        let server = try HalfClosingServer(expecting: body)
        let bench = try Bench()
        await bench.run { $0.url = server.url }
        let task = bench.start { ($0.url, $0.httpMethod, $0.httpBody) = (server.url, "PUT", body) }
        // libcurl has read the end of the connection, and sends until no more fits into the socket.
        let engine = bench.session.pool.engine
        while await bench.onEngine({ task.core.transfer.map { engine.sockets[$0.socket].wanted } }) != Epoll.output {
            await Task.yield()
        }
        server.reset()
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(bench.recorder.body == Data("firstwhole".utf8))
    }

    // MARK: After a response

    @Test func `a response of HTTP/2 that is cut off is not followed by one of HTTP-1_1`() async throws {
        let server = try HTTP2Server { request, requests in
            requests.count == 1
                ? [.head(request.stream), .data(request.stream, "half", ends: false)]
                : [.reset(requests[0].stream, 13)] + Frame.response(request.stream, "whole")  // HTTP_1_1_REQUIRED
        }
        let bench = try Bench.overTLS()
        bench.server["/"] = Reply("other")
        bench.start { $0.url = server.relay.url() }
        while bench.recorder.body.isEmpty { await Task.yield() }
        server.relay.change { ($0.speaksHTTP2, $0.upstream) = (false, bench.server.port) }
        bench.start { $0.url = server.relay.url() }
        await bench.recorder.waitForEnds(2)
        #expect(bench.recorder.body == Data("halfwhole".utf8))
        #expect(bench.recorder.calls.filter { $0 == .end(.networkConnectionLost) }.count == 1)
        #expect(bench.recorder.calls.filter { $0 == .head(200) }.count == 2)
        #expect(bench.server.requests.isEmpty)
    }

    /// libcurl would send the request again without the field.
    @Test func `a 417 is the response to a request with an Expect header`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("no", status: 417)
        bench.server.answerEarly(at: "/")
        await bench.run {
            ($0.httpMethod, $0.httpBody) = ("POST", Data("body".utf8))
            $0.setValue("100-continue", forHTTPHeaderField: "Expect")
        }
        #expect(bench.recorder.calls.filter { $0 != .sent(4) } == [.head(417), .end(nil)])
        #expect(bench.server.requests.map { $0["Expect"] } == [nil])
    }
}

/// Answers a request, ends its direction of the connection after the head of the next one, and resets the connection later. On the
/// second connection, it answers a request with a body.
private final class HalfClosingServer: Sendable {
    /// Nil once it is closed: another test may have a descriptor of the same number by then.
    private let listener: Locked<Int32?>
    private let isToReset = DispatchSemaphore(value: 0)
    let url: URL?

    init(expecting body: Data) throws {
        let listener = try Descriptor.listening()
        var size: Int32 = 4096  // inherited by its connections: the body does not fit
        setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        url = URL(string: "http://127.0.0.1:\(Descriptor.port(of: listener))/")
        let open = Locked<Int32?>(listener)
        self.listener = open
        Thread.detachNewThread { [isToReset] in
            defer { open.withLock { $0.take().map { _ = close($0) } } }
            guard let first = Descriptor.accepted(listener) else { return }
            if Self.readHead(first), Self.answer(first, "first"), Self.readHead(first) {
                shutdown(first, Int32(SHUT_WR))
                isToReset.wait()
            }
            Descriptor.resetWhenClosed(first)
            close(first)
            guard let second = Descriptor.accepted(listener) else { return }
            defer { close(second) }
            guard Self.readHead(second) else { return }
            var bytes = [UInt8](repeating: 0, count: body.count)
            let count = recv(second, &bytes, bytes.count, Int32(MSG_WAITALL))
            _ = Self.answer(second, count == body.count && Data(bytes) == body ? "whole" : "other")
        }
    }

    deinit {
        isToReset.signal()
        listener.withLock { if let listener = $0 { shutdown(listener, Int32(SHUT_RDWR)) } }
    }

    func reset() { isToReset.signal() }

    private static func readHead(_ connection: Int32) -> Bool {
        var (end, byte) = ([UInt8](), UInt8(0))
        while end != Array("\r\n\r\n".utf8) {
            guard recv(connection, &byte, 1, 0) == 1 else { return false }
            end = end.suffix(3) + [byte]
        }
        return true
    }

    private static func answer(_ connection: Int32, _ text: String) -> Bool {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
        return Descriptor.writeAll(connection, Array((head + text).utf8)[...])
    }
}
