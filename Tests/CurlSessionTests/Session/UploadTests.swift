import Foundation
import FoundationNetworking
import ScriptedServer
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct UploadTests {
    @Test(arguments: [true, false]) func `an async upload asks its delegate about redirects`(isFile: Bool) async throws
    {
        let bench = try Bench()
        bench.server["/"] = Reply("moved", status: 307, fields: ["Location": "/x"])
        let delegate = Recorder(redirecting: { _, _, decide in decide(nil) })
        var request = URLRequest(url: bench.server.url())
        request.httpMethod = "POST"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("body".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (data, response) =
            isFile
            ? try await bench.session.upload(for: request, fromFile: file, delegate: delegate)
            : try await bench.session.upload(for: request, from: Data("body".utf8), delegate: delegate)
        #expect((response as? HTTPURLResponse)?.statusCode == 307)
        #expect(data == Data("moved".utf8))
        #expect(delegate.calls == [.sent(4), .redirect(307, "/x")])
        #expect(bench.server.requests.map(\.body) == [Data("body".utf8)])
    }

    private let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    @Test func `a body is sent whole, and the delegate hears how far`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        let task = await bench.run { request in
            request.httpMethod = "PUT"
            request.httpBody = body
        }
        #expect(bench.server.requests.first?.body == body)
        #expect(bench.server.requests.first?.method == "PUT")
        #expect(bench.recorder.calls.contains(.sent(300_000)))
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(task.countOfBytesSent == 300_000)
        #expect(task.countOfBytesExpectedToSend == 300_000)
    }

    @Test func `a stream is sent in chunks`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        await bench.run { request in
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: body)
        }
        #expect(bench.server.requests.first?.body == body)
        #expect(bench.server.requests.first?["Transfer-Encoding"] == "chunked")
        #expect(bench.recorder.calls.last == .end(nil))
    }

    /// The server would take the surplus bytes for the next request.
    @Test func `a stream that is longer than its Content-Length is cut off`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        await bench.run { request in
            request.httpMethod = "POST"
            request.setValue("5", forHTTPHeaderField: "Content-Length")
            request.httpBodyStream = InputStream(data: body.prefix(200))
        }
        #expect(bench.recorder.calls.last == .end(nil))
        await bench.run("/")
        #expect(bench.server.requests.map(\.body) == [body.prefix(5), Data()])
    }

    @Test func `a stream that is shorter than its Content-Length is an error`() async throws {
        let bench = try Bench()
        await bench.run { request in
            request.httpMethod = "POST"
            request.setValue("500", forHTTPHeaderField: "Content-Length")
            request.httpBodyStream = InputStream(data: body.prefix(200))
        }
        #expect(bench.recorder.calls.last == .end(.requestBodyStreamExhausted))
    }

    @Test func `a stream is asked for anew when a redirect keeps the method`() async throws {
        let body = body
        let bench = try Bench(Recorder(streaming: { InputStream(data: body) }))
        bench.server["/"] = .redirect(to: "/x", status: 307)
        bench.server["/x"] = Reply("done")
        await bench.run { request in
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: body)
        }
        #expect(bench.server.requests.last?.body == body)
        #expect(bench.recorder.calls.filter { $0 == .needsBody }.count == 1)
        #expect(bench.recorder.calls.last == .end(nil))
    }

    @Test func `upload tasks send data, files and streams`() async throws {
        let bench = try Bench(Recorder(streaming: { InputStream(data: Data("stream".utf8)) }))
        bench.server["/"] = Reply("done")
        var request = URLRequest(url: bench.server.url())
        request.httpMethod = "POST"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try await bench.session.upload(for: request, from: Data("data".utf8))
        _ = try await bench.session.upload(for: request, fromFile: file)
        let task = bench.session.uploadTask(withStreamedRequest: request)
        task.resume()
        await bench.recorder.waitForEnds()
        let bodies = bench.server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies == ["data", "file", "stream"])
        #expect(bench.server.requests[1]["Content-Length"] == "4")
    }

    @Test func `a delegate that is behind hears of several pieces at once`() {
        var mailbox = Mailbox()
        _ = mailbox.post(.sent(4, total: 4, expected: 20))
        _ = mailbox.post(.sent(6, total: 10, expected: 20))
        #expect(mailbox.events.count == 1)
        guard case .sent(10, total: 10, expected: 20)? = mailbox.next() else {
            Issue.record("another event")
            return
        }
        // The body is sent again, from its start.
        _ = mailbox.post(.sent(5, total: 15, expected: 20))
        _ = mailbox.post(.sent(4, total: 4, expected: 20))
        #expect(mailbox.events.count == 2)
    }

    // MARK: Streams that stall

    @Test func `a redirect ends the upload that it answers`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock)
        bench.server["/"] = .redirect(to: "/x", status: 303)
        bench.server["/x"] = Reply("here")
        bench.server.answerEarly(at: "/")
        let (pipe, stream) = try Self.stalling()
        bench.start {
            $0.httpMethod = "POST"
            $0.httpBodyStream = stream
        }
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(nil))
        // Without moving the clock.
        try await bench.server.wait(for: "the end of the upload") { $0.connectionsClosed >= 1 }
        try pipe.fileHandleForWriting.close()
    }

    /// A stream that has what is written to `pipe`, and blocks until there is something.
    private static func stalling() throws -> (pipe: Pipe, stream: InputStream) {
        let pipe = Pipe()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let stream = try #require(InputStream(fileAtPath: path))
        pipe.fileHandleForWriting.write(Data("part".utf8))
        return (pipe, stream)
    }

    @discardableResult
    private func upload(_ stream: InputStream, on bench: Bench) async -> CurlTask {
        let task = bench.start {
            $0.httpMethod = "POST"
            $0.httpBodyStream = stream
        }
        while !bench.recorder.calls.contains(.sent(4)) { await Task.yield() }
        return task
    }

    @Test(arguments: [Reply("early"), Reply("early").chunked(2), Reply("early", status: 413), Reply("early").closing()])
    func `a response that is complete before the body of its request is the task's`(reply: Reply) async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock)
        let gate = Gate()
        bench.server["/"] = reply.waiting(for: gate)
        bench.server.answerEarly(at: "/")
        let (pipe, stream) = try Self.stalling()
        await upload(stream, on: bench)  // bytes that are sent later would count as progress
        gate.open()
        while bench.recorder.body.count < 5 { await Task.yield() }
        await clock.settle()
        clock.advance(2)
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.filter { $0 != .sent(4) } == [.head(reply.status), .end(nil)])
        try pipe.fileHandleForWriting.close()
        // The rest of the body is not sent, so the connection is not used again.
        await bench.run("/next")
        #expect(bench.server.counts.connectionsOpened == 2)
    }

    /// libcurl notices while it sends, and reports an error.
    @Test func `a response that is complete counts, though the server then resets the connection`() async throws {
        let bench = try Bench(timed: TimedEngine())
        let gate = Gate()
        bench.server["/"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly"), .wait(gate), .reset)
        bench.server.answerEarly(at: "/")
        let (pipe, stream) = try Self.stalling()
        bench.start { ($0.httpMethod, $0.httpBodyStream) = ("POST", stream) }
        while bench.recorder.body.count < 5 { await Task.yield() }
        gate.open()
        try await bench.server.waitUntilConnectionsClosed()
        pipe.fileHandleForWriting.write(Data("more".utf8))
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(nil))
        try pipe.fileHandleForWriting.close()
    }

    @Test func `a stream that stalls does not time out, and is sent whole`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForRequest = 10 }
        bench.server["/"] = Reply("done")
        let (pipe, stream) = try Self.stalling()
        let task = await upload(stream, on: bench)
        await clock.settle()
        clock.advance(100)
        await clock.settle()
        #expect(task.state == .running)
        pipe.fileHandleForWriting.write(Data(" and the rest".utf8))
        try pipe.fileHandleForWriting.close()
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(bench.server.requests.first?.body == Data("part and the rest".utf8))
    }

    @Test func `a stream that stalls is cut off by the limit for the whole load, and by cancelling`() async throws {
        let clock = TimedEngine()
        let bench = try Bench(timed: clock) { $0.timeoutIntervalForResource = 20 }
        bench.server["/"] = Reply("done")
        for ending in [URLError.Code.timedOut, .cancelled] {
            let (pipe, stream) = try Self.stalling()
            let ends = bench.recorder.notes.withLock { $0.ends }
            bench.recorder.notes.withLock { $0.calls = [] }
            let task = await upload(stream, on: bench)
            await clock.settle()
            if ending == .cancelled { task.cancel() } else { clock.advance(21) }
            await bench.recorder.waitForEnds(ends + 1)
            #expect(bench.recorder.calls.last == .end(ending))
            try pipe.fileHandleForWriting.close()
        }
        try await bench.server.waitUntilConnectionsClosed()
    }

    @Test func `a stream that cannot be read fails the task`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        await bench.run {
            $0.httpMethod = "POST"
            $0.httpBodyStream = InputStream(fileAtPath: "/nonexistent")
        }
        #expect(bench.recorder.calls.last == .end(.requestBodyStreamExhausted))
    }

    @Test func `a GET with a body fails, and line breaks do not become fields`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        await bench.run { $0.httpBody = Data("body".utf8) }
        #expect(bench.recorder.calls == [.end(.dataLengthExceedsMaximum)])
        #expect(
            RequestLines.lines(session: [:], own: ["A": "1\r\nB: 2", "C:D": "3", "E": ""], body: .none, method: "GET")
                == ["E;"])
    }
}
