import Foundation
import FoundationNetworking
import ScriptedServer
import TestTraits
import Testing

@testable import CurlSession

/// Without its field, a request could mean something else: an anonymous user, for one.
@Suite("A field that can't be sent", .bounded)
struct UnsendableFieldTests {
    static let breaks = ["\r\n", "\r", "\n", "\0"]

    private func expectRefused(
        _ task: CurlTask, of bench: Bench, naming name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(bench.recorder.calls == [.end(.badURL)], sourceLocation: sourceLocation)
        #expect(bench.server.counts.connectionsOpened == 0, sourceLocation: sourceLocation)
        let words = task.error?.localizedDescription ?? ""
        #expect(words.contains(name), sourceLocation: sourceLocation)
        #expect(!words.contains("secret"), sourceLocation: sourceLocation)
        #expect(!words.contains { $0.isNewline || $0 == "\0" }, sourceLocation: sourceLocation)
    }

    @Test("fails the task before anything is sent, and the error names it", arguments: breaks)
    func request(lineBreak: String) async throws {
        for (name, value) in [
            ("Authorization", "Bearer secret\(lineBreak)"), ("Authorization", "a\(lineBreak)X-Injected: secret"),
            ("Authorization\(lineBreak)", "secret"), ("Authorization: secret\(lineBreak)X-A", "secret"),
        ] {
            let bench = try Bench()
            bench.server["/"] = Reply("anonymous")
            // On Linux `setValue` leaves such a value out.
            let task = await bench.run { $0.allHTTPHeaderFields = [name: value, "X-Other": "a"] }
            expectRefused(task, of: bench, naming: "Authorization")
        }
    }

    @Test("does so in httpAdditionalHeaders, too", arguments: breaks)
    func session(lineBreak: String) async throws {
        for (name, value) in [("X-Key", "secret\(lineBreak)"), ("X-Key\(lineBreak)X-B", "secret")] {
            for isPlain in [true, false] {
                let bench = try Bench { $0.httpAdditionalHeaders = [name: value] }
                bench.server["/"] = Reply("anonymous")
                let task = await bench.run { if !isPlain { $0.setValue("a", forHTTPHeaderField: "X-Other") } }
                expectRefused(task, of: bench, naming: "X-Key")
            }
        }
    }

    @Test("also has a name that is not a token", arguments: ["Authorization:", "Authorization ", "Authorizatión", ""])
    func names(name: String) async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("anonymous")
        let task = await bench.run { $0.allHTTPHeaderFields = [name: "secret"] }
        expectRefused(task, of: bench, naming: name.isEmpty ? "no name" : "Authoriz")
    }

    @Test("may be a cookie that the app has stored")
    func cookie() async throws {
        let bench = try Bench { configuration in
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "a", .value: "secret\n", .domain: "127.0.0.1", .path: "/",
            ]
            if let cookie = HTTPCookie(properties: properties) { configuration.httpCookieStorage?.setCookie(cookie) }
        }
        bench.server["/"] = Reply("anonymous")
        let task = await bench.run()
        expectRefused(task, of: bench, naming: "Cookie")
    }

    @Test("fails an upload and an async call")
    func otherTasks() async throws {
        let bench = try Bench { $0.httpAdditionalHeaders = ["X-Key": "secret\n"] }
        bench.server["/"] = Reply("anonymous")
        let (session, url) = (bench.session, bench.server.url())
        var upload = URLRequest(url: url)
        upload.httpMethod = "POST"
        let request = upload
        var error = await #expect(throws: URLError.self) {
            try await session.upload(for: request, from: Data("body".utf8))
        }
        #expect(error?.code == .badURL)
        error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .badURL)
        #expect(bench.server.counts.connectionsOpened == 0)
    }

    @Test("does no harm if the request has its own in place of the session's, also after a redirect to another origin")
    func replaced() async throws {
        let bench = try Bench { $0.httpAdditionalHeaders = ["Authorization": "secret\n"] }
        let other = try ScriptedServer { _ in Reply("other") }
        defer { other.stop() }
        bench.server["/"] = .redirect(to: other.url("/x").absoluteString)
        await bench.run { $0.setValue("good", forHTTPHeaderField: "authorization") }
        #expect(bench.recorder.calls == [.redirect(302, "/x"), .head(200), .end(nil)])
        #expect((bench.server.requests + other.requests).map { $0["Authorization"] } == ["good", nil])
    }

    @Test("of a delegate's request after a redirect fails the task")
    func redirected() async throws {
        let recorder = Recorder(redirecting: { _, request, decide in
            var request = request
            request.allHTTPHeaderFields = ["Authorization": "secret\n"]
            decide(request)
        })
        let bench = try Bench(recorder)
        bench.server["/"] = .redirect(to: "/x")
        bench.server["/x"] = Reply("anonymous")
        await bench.run()
        #expect(recorder.calls == [.redirect(302, "/x"), .end(.badURL)])
        #expect(bench.server.requests.map(\.target) == ["/"])
    }
}
