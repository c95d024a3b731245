import Foundation
import FoundationNetworking
import ScriptedServer
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct FileUploadTests {
    private let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) })

    private func upload(_ file: URL, on bench: Bench) async {
        var request = URLRequest(url: bench.server.url())
        request.httpMethod = "PUT"
        bench.session.uploadTask(with: request, fromFile: file).resume()
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(nil))
    }

    @Test func `a file is sent again after a redirect that keeps the method, and after a challenge`() async throws {
        let credential = URLCredential(user: "user", password: "pass", persistence: .none)
        let bench = try Bench(Recorder(challenging: { _ in (.useCredential, credential) }))
        bench.server["/"] = .redirect(to: "/x", status: 307)
        bench.server.handle("/x") { request in
            request["Authorization"] == nil
                ? Reply("who?", status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""]) : Reply("done")
        }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        await upload(file, on: bench)
        #expect(bench.server.requests.map(\.body) == [body, body, body])
    }

    /// The length of a link is that of its target's path.
    @Test func `a link to a file is uploaded as the file`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (file, link) = (directory.appendingPathComponent("file"), directory.appendingPathComponent("link"))
        try body.write(to: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        await upload(link, on: bench)
        #expect(bench.server.requests.first?["Content-Length"] == "300000")
        #expect(bench.server.requests.map(\.body) == [body])
    }

    /// Nothing tells how much a pipe will have.
    @Test func `a named pipe is uploaded in chunks`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("done")
        let pipe = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try #require(mkfifo(pipe.path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(at: pipe) }
        let body = body
        Thread.detachNewThread { try? body.write(to: pipe) }
        await upload(pipe, on: bench)
        #expect(bench.server.requests.first?["Transfer-Encoding"] == "chunked")
        #expect(bench.server.requests.map(\.body) == [body])
    }

    @Test func `a file that does not exist fails the upload`() async throws {
        let bench = try Bench()
        var request = URLRequest(url: bench.server.url())
        request.httpMethod = "POST"
        bench.session.uploadTask(with: request, fromFile: URL(fileURLWithPath: "/nonexistent")).resume()
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls.last == .end(.requestBodyStreamExhausted))
    }
}
