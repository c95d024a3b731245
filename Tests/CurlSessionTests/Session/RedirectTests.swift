import Foundation
import FoundationNetworking
import ScriptedServer
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct SessionRedirectTests {
    @Test func `a redirect is followed on the same connection`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("moved", status: 302, fields: ["Location": "/x"])
        bench.server["/x"] = Reply("here")
        let task = await bench.run()
        #expect(bench.recorder.calls == [.redirect(302, "/x"), .head(200), .end(nil)])
        #expect(bench.recorder.body == Data("here".utf8))
        #expect(task.currentRequest?.url?.path == "/x")
        #expect(task.originalRequest?.url?.path == "/")
    }

    @Test func `a refused redirect is the response, with its body`() async throws {
        let bench = try Bench(Recorder(redirecting: { _, _, decide in decide(nil) }))
        bench.server["/"] = Reply("moved", status: 302, fields: ["Location": "/x"])
        await bench.run()
        #expect(bench.recorder.calls == [.redirect(302, "/x"), .head(302), .end(nil)])
        #expect(bench.recorder.body == Data("moved".utf8))
    }

    @Test func `a session can report redirects without asking`() async throws {
        var options = CurlSession.Options()
        options.reportsRedirects = true
        let bench = try Bench(options: options)
        bench.server["/"] = Reply("moved", status: 302, fields: ["Location": "/x"])
        await bench.run()
        #expect(bench.recorder.calls == [.head(302), .end(nil)])
    }

    @Test func `the body of a redirect is not read to its end`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("x", status: 302, fields: ["Location": "/x"]).failing(.endlessBody)
        bench.server["/x"] = Reply("here")
        await bench.run()
        #expect(bench.recorder.body == Data("here".utf8))
        try await bench.server.wait { $0.connectionsClosed >= 1 }
    }

    @Test func `a task is cancelled while the delegate decides, and a late decision does nothing`() async throws {
        let bench = try Bench(
            Recorder(redirecting: { task, request, decide in
                task.cancel()
                decide(request)
                decide(nil)
            }))
        bench.server["/"] = .redirect(to: "/x")
        for _ in 0..<100 { await bench.run() }
        #expect(bench.recorder.calls.filter { $0 == .end(.cancelled) }.count == 100)
        #expect(!bench.server.requests.contains { $0.target == "/x" })
    }

    /// RFC 6454 §4.
    @Test(
        arguments: [
            ("https://a.example/x?y#z", "https://a.example"), ("HTTPS://A.Example", "https://a.example"),
            ("https://a.example:443/", "https://a.example"), ("http://a.example:80?x", "http://a.example"),
            ("http://a.example:443/", "http://a.example:443"), ("https://a.example:4430/", "https://a.example:4430"),
            ("https://user:p@ss@a.example/@b", "https://a.example"), ("http://[::1]:8080/", "http://[::1]:8080"),
            ("http://[FE80::443]/", "http://[fe80::443]"), ("http:/x", ""), ("https://:443/", ""),
            ("ftp://a.example/", nil),
        ] as [(String, String?)])
    func `origins are compared without case, default port and user`(_ url: String, _ origin: String?) {
        #expect(URLReference.origin(of: url) == origin)
    }

    @Test func `loops and other schemes end`() async throws {
        let bench = try Bench()
        bench.server["/loop"] = .redirect(to: "/loop")
        bench.server["/ftp"] = .redirect(to: "ftp://127.0.0.1/")
        bench.server["/file"] = .redirect(to: "file:///etc/passwd")
        bench.server["/none"] = .redirect(to: "//a%20b/")
        for target in ["/loop", "/ftp", "/file", "/none"] { await bench.run(target) }
        let ends = bench.recorder.calls.filter { if case .end = $0 { true } else { false } }
        #expect(
            ends == [.end(.httpTooManyRedirects), .end(.unsupportedURL), .end(.unsupportedURL), .end(nil)])
        #expect(bench.server.requests.filter { $0.target == "/loop" }.count == 21)
    }

    @Test func `methods change and credentials stay as the standards have it`() async throws {
        let bench = try Bench()
        let other = try ScriptedServer { _ in Reply("other") }
        defer { other.stop() }
        bench.server["/303"] = .redirect(to: "/x", status: 303)
        bench.server["/307"] = .redirect(to: "/x", status: 307)
        bench.server["/away"] = .redirect(to: other.url("/x").absoluteString, status: 307)
        bench.server["/x"] = Reply("here")
        for target in ["/303", "/307", "/away"] {
            await bench.run(target) { request in
                request.httpMethod = "POST"
                request.httpBody = Data("body".utf8)
                request.setValue("secret", forHTTPHeaderField: "Authorization")
            }
        }
        let followed = bench.server.requests.filter { $0.target == "/x" } + other.requests
        #expect(followed.map(\.method) == ["GET", "POST", "POST"])
        #expect(followed.map { String(decoding: $0.body, as: UTF8.self) } == ["", "body", "body"])
        #expect(followed.map { $0["Authorization"] } == ["secret", "secret", nil])
    }
}
