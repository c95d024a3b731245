import Foundation
import FoundationNetworking
import ScriptedServer
import Testing

@testable import CurlSession

@Suite(.timeLimit(.minutes(1))) struct UploadTests {
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

    @Test func `a GET with a body fails, and line breaks do not become fields`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        await bench.run { $0.httpBody = Data("body".utf8) }
        #expect(bench.recorder.calls == [.end(.dataLengthExceedsMaximum)])
        #expect(RequestLines.lines([:], ["A": "1\r\nB: 2", "C:D": "3", "E": ""], .none, method: "GET") == ["E;"])
    }
}
