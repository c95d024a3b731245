import CSendHook
import Foundation
import FoundationNetworking
import ScriptedServer
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct ConnectionTests {
    /// The late bytes are a whole response, sent while the connection is idle.
    @Test func `bytes that come after a response are not the answer to the next request`() async throws {
        let bench = try Bench()
        let gate = Gate()
        let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        var first = Reply("first" + poison).waiting(for: gate, .afterBody(5))
        first.framing = .asFieldsSay
        bench.server["/first"] = first.adding("Content-Length", value: "5")
        bench.server["/second"] = Reply("second")
        await bench.run("/first")
        #expect(bench.recorder.body == Data("first".utf8))
        gate.open()
        try await bench.server.wait(for: "the late bytes") { $0.repliesCompleted == 1 }
        await bench.run("/second")
        #expect(bench.recorder.body == Data("firstsecond".utf8))
        #expect(bench.server.counts.connectionsOpened == 2)
    }

    @Test(arguments: [("PUT", "body"), ("PUT", ""), ("DELETE", ""), ("GET", "")])
    func `a request that may be sent twice is sent again, whole, when a kept connection turns out to be dead`(
        method: String, body: String
    ) async throws {
        let (bench, bodies) = try await requests(method, body: body)
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(bodies == [body, body])
    }

    /// RFC 9110 §9.2.2.
    @Test(arguments: [("POST", "body"), ("POST", ""), ("PATCH", "body")])
    func `a request that must not be sent twice is not sent again once the server has it`(
        method: String, body: String
    ) async throws {
        let (bench, bodies) = try await requests(method, body: body)
        #expect(bench.recorder.calls.last == .end(.networkConnectionLost))
        #expect(bodies == [body])
    }

    /// libcurl finds the connection closed in the same call in which it has sent the request, and so has not reported the socket.
    @Test(.serialized, arguments: [Reply.Fault.close(.beforeHead), .reset(.beforeHead)])
    func `a request that must not be sent twice is not sent again if the server closes the connection at once`(
        _ fault: Reply.Fault
    ) async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("first")
        bench.server.enqueue(Reply().failing(fault), Reply("done"), for: "/closed-at-once")
        await bench.run()
        let start: StaticString = "POST /closed-at-once"
        start.withUTF8Buffer { text in
            text.baseAddress?.withMemoryRebound(to: CChar.self, capacity: text.count) { send_hook_wait_after($0) }
        }
        await bench.run("/closed-at-once") { $0.httpMethod = "POST" }
        #expect(!send_hook_is_armed())
        #expect(bench.recorder.calls.last == .end(.networkConnectionLost))
        #expect(bench.server.requests.count == 2)
    }

    /// Before libcurl closes the connection, it sends a record of TLS. The server does not acknowledge it.
    @Test(
        arguments: [TLSConfiguration.Version.tls12, .tls13],
        [Reply.Fault.close(.beforeHead), .reset(.beforeHead)])
    func `a request that must not be sent twice is not sent again over TLS`(
        version: TLSConfiguration.Version, fault: Reply.Fault
    ) async throws {
        var options = CurlSession.Options()
        options.tls.additionalAuthorities = TestCertificate.authority.text
        let bench = try Bench(options: options)
        let relay = try TLSRelay(to: bench.server.port) { $0.maximumVersion = version }
        bench.server["/"] = Reply("first")
        bench.server.enqueue(Reply().failing(fault), Reply("done"), for: "/second")
        await bench.run { $0.url = relay.url() }
        await bench.run("/second") {
            $0.url = relay.url("/second")
            $0.httpMethod = "POST"
        }
        #expect(bench.recorder.calls.last == .end(.networkConnectionLost))
        #expect(bench.server.requests.count == 2)
    }

    /// Sends a request on a kept connection, which the server then closes without a response.
    private func requests(_ method: String, body: String) async throws -> (Bench, bodies: [String]) {
        let bench = try Bench()
        bench.server["/"] = Reply("first")
        bench.server.enqueue(Reply().failing(.close(.beforeHead)), Reply("done"), for: "/second")
        await bench.run()
        await bench.run("/second") { request in
            request.httpMethod = method
            if !body.isEmpty { request.httpBody = Data(body.utf8) }
        }
        let requests = bench.server.requests.filter { $0.target == "/second" }
        return (bench, requests.map { String(decoding: $0.body, as: UTF8.self) })
    }

    /// If the server answers while libcurl sends, libcurl reads until the transfer pauses, and has not named the socket. The
    /// bytes that follow belong to this response; they are not late bytes of the one before.
    @Test func `a response that begins while its request is being sent is not cut off`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply(Data(count: 4 * Mailbox.limit))
        for _ in 0..<300 {
            await bench.run()
            #expect(bench.recorder.calls.last == .end(nil))
            bench.recorder.notes.withLock { $0.body = Data() }
        }
        #expect(bench.server.counts.connectionsOpened == 1)
    }

    @Test func `many sessions come and go`() async throws {
        let server = try ScriptedServer { _ in Reply("hello") }
        defer { server.stop() }
        for _ in 0..<200 {
            let session = CurlSession(configuration: .ephemeral)
            let (data, _) = try await session.data(from: server.url())
            #expect(data == Data("hello".utf8))
        }
        try await server.waitUntilConnectionsClosed()
    }

    @Test func `a session that is released closes its connections`() async throws {
        let server = try ScriptedServer { _ in Reply("hello") }
        defer { server.stop() }
        var session: CurlSession? = CurlSession(configuration: .ephemeral)
        _ = try await session?.data(from: server.url())
        #expect(server.counts.connectionsOpen == 1)
        session = nil
        try await server.waitUntilConnectionsClosed()
    }

    @Test func `a session that is let go of under load ends all its tasks, and closes its connections`() async throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in Reply("hello").waiting(for: gate) }
        defer { server.stop() }
        let recorder = Recorder()
        do {
            let session = CurlSession(configuration: .ephemeral, delegate: recorder, delegateQueue: nil)
            for _ in 0..<50 { session.dataTask(with: server.url()).resume() }
        }
        try await gate.waitForArrivals(6)
        gate.open()
        await recorder.waitForEnds(50)
        #expect(recorder.calls.filter { $0 == .end(nil) }.count == 50)
        try await server.waitUntilConnectionsClosed()
    }

    @Test func `a session that is invalidated under load, again and again, ends each task once`() async throws {
        let server = try ScriptedServer { _ in Reply(Data(count: 100_000)) }
        defer { server.stop() }
        for round in 0..<20 {
            let recorder = Recorder()
            let session = CurlSession(configuration: .ephemeral, delegate: recorder, delegateQueue: nil)
            let requests = server.counts.requests
            for _ in 0..<30 { session.dataTask(with: server.url()).resume() }
            if round % 2 == 0 { try await server.wait(for: "a request") { $0.requests > requests } }
            session.invalidateAndCancel()
            await recorder.waitForInvalidation()
            let ends = recorder.calls.filter { if case .end = $0 { true } else { false } }
            #expect(ends.count == 30 && recorder.calls.last == .invalid)
        }
        try await server.waitUntilConnectionsClosed()
    }

    @Test func `an invalidated session ends its tasks, tells its delegate once and refuses new tasks`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply().failing(.silence(.beforeHead))
        bench.start()
        try await bench.server.waitForRequests(1)
        bench.session.invalidateAndCancel()
        await bench.recorder.waitForInvalidation()
        #expect(bench.recorder.calls == [.end(.cancelled), .invalid])
        await #expect(throws: URLError.self) { try await bench.session.data(from: bench.server.url()) }
    }

    /// One thread resumes the task. Before it goes on, another one cancels the task.
    @Test func `a session does not keep a task that ends while it is resumed`() throws {
        let task = try Bench().task()
        var tasks = TaskTable(delegates: nil)
        _ = tasks.count()
        tasks.created(task, with: task.core)
        _ = tasks.ended(task.core)
        tasks.started(task.core)
        #expect(tasks.running.isEmpty)
    }

    @Test func `an invalid session finishes once, with its last task, and stays cancelled`() throws {
        let core = try Bench().task().core
        var tasks = TaskTable(delegates: Delegates(nil))
        let first = tasks.count()
        tasks.invalidate(.cancelTasks)
        tasks.invalidate(.finishTasks)
        let second = tasks.count()
        #expect(first.isAccepted && !second.isAccepted && second.identifier == first.identifier + 1)
        let ends = [tasks.finishIfDone(), tasks.ended(core), tasks.ended(core), tasks.finishIfDone()]
        #expect(ends == [nil, nil, .cancelTasks, nil])
        #expect(tasks.delegates == nil)
    }

    @Test func `cancelling a session ends tasks that were never resumed, and Foundation's tasks`() async throws {
        let bench = try Bench()
        bench.server["/"] = .script(.hold)
        let task = bench.session.dataTask(with: bench.server.url())
        let downloads = (0..<2).map { _ in bench.session.downloadTask(with: bench.server.url()) }
        downloads[0].resume()
        bench.session.invalidateAndCancel()
        await bench.recorder.waitForInvalidation()
        #expect(task.state == .completed && (task.error as? URLError)?.code == .cancelled)
        #expect(downloads.allSatisfy { $0.state == .canceling || $0.state == .completed })
    }

    @Test func `no two tasks of a session have the same number, Foundation's included`() throws {
        let bench = try Bench()
        let url = bench.server.url()
        let tasks = (0..<3).flatMap { _ in
            [bench.session.dataTask(with: url), bench.session.downloadTask(with: url)] as [URLSessionTask]
        }
        #expect(Set(tasks.map(\.taskIdentifier)).count == 6)
        for task in tasks { task.cancel() }
    }

    @Test func `the shared session is one of CurlSession's, and can't be invalidated`() async throws {
        let server = try ScriptedServer { _ in Reply("hello") }
        defer { server.stop() }
        CurlSession.shared.invalidateAndCancel()
        CurlSession.shared.finishTasksAndInvalidate()
        let (data, _) = try await CurlSession.shared.data(from: server.url())
        #expect(data == Data("hello".utf8))
        #expect(CurlSession.shared === CurlSession.shared)
    }

    @Test func `tasks run to their end before the session is invalid`() async throws {
        let bench = try Bench()
        let gate = Gate()
        bench.server["/"] = Reply("hello").waiting(for: gate)
        bench.start()
        try await gate.waitForArrivals()
        bench.session.finishTasksAndInvalidate()
        gate.open()
        await bench.recorder.waitForInvalidation()
        #expect(bench.recorder.calls == [.head(200), .end(nil), .invalid])
    }

    @Test func `all tasks are listed while they run`() async throws {
        let bench = try Bench()
        let gate = Gate()
        bench.server["/"] = Reply("hello").waiting(for: gate)
        let task = bench.start()
        let session = bench.session
        let isListed = await withCheckedContinuation { continuation in
            session.getAllTasks { continuation.resume(returning: $0 == [task]) }
        }
        #expect(isListed)
        gate.open()
        await bench.recorder.waitForEnds()
        let left = await withCheckedContinuation { continuation in
            session.getAllTasks { continuation.resume(returning: $0.count) }
        }
        #expect(left == 0)
    }

    @Test func `requests that a protocol class claims go to Foundation`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [FakeNetwork.self]
        let session = CurlSession(configuration: configuration)
        let url = try #require(URL(string: "http://fake.test/"))
        #expect(!(session.dataTask(with: url) is CurlTask))
        let (data, _) = try await session.data(from: url)
        #expect(data == Data("fake".utf8))
    }
}

/// Answers all requests to one host.
private final class FakeNetwork: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "fake.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}
    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("fake".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
}
