import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct SessionAuthenticationTests {
    private static let basic = "Basic dXNlcjpwYXNz"  // user:pass
    private let credential = URLCredential(user: "user", password: "pass", persistence: .none)

    @Test func `without a credential the 401 is the response, at once, with its body`() async throws {
        let bench = try Bench()
        bench.server["/"] = Reply("who are you?", status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
        await bench.run()
        #expect(bench.recorder.calls == [.head(401), .end(nil)])
        #expect(bench.recorder.body == Data("who are you?".utf8))
        #expect(bench.server.requests.count == 1)
    }

    @Test func `the delegate's credential is sent once, and again only if the delegate says so`() async throws {
        let asked = Locked<[Int]>([])
        let credential = credential
        let recorder = Recorder(challenging: { challenge in
            asked.withLock { $0.append(challenge.previousFailureCount) }
            let isFirst = challenge.previousFailureCount == 0
            let wrong = URLCredential(user: "user", password: "wrong", persistence: .none)
            return (.useCredential, isFirst ? wrong : credential)
        })
        let bench = try Bench(recorder)
        bench.server.handle("/") { Self.reply($0, "Basic realm=\"r\"", Self.basic) }
        await bench.run()
        #expect(recorder.calls == [.head(200), .end(nil)])
        #expect(asked.withLock { $0 } == [0, 1])
        #expect(bench.server.requests.map { $0["Authorization"] } == [nil, "Basic dXNlcjp3cm9uZw==", Self.basic])
        #expect(bench.server.counts.connectionsOpened == 1)
    }

    @Test func `the storage's credential is used where the delegate leaves it to the session`() async throws {
        let storage = URLCredentialStorage()
        let bench = try Bench { $0.urlCredentialStorage = storage }
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: Int(bench.server.port), protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        storage.setDefaultCredential(
            URLCredential(user: "user", password: "pass", persistence: .forSession), for: space)
        bench.server.handle("/") { Self.reply($0, "Basic realm=\"r\"", Self.basic) }
        bench.server.handle("/other") { Self.reply($0, "Basic realm=\"other\"", Self.basic) }
        bench.server.handle("/wrong") { Self.reply($0, "Basic realm=\"r\"", "none") }
        await bench.run()
        await bench.run("/other")
        await bench.run("/wrong")
        #expect(bench.recorder.calls.filter { $0 != .end(nil) } == [.head(200), .head(401), .head(401)])
        #expect(bench.server.requests.count == 5)
    }

    @Test func `Digest is answered, and an old nonce without asking again`() async throws {
        let asked = Locked(0)
        let credential = credential
        let recorder = Recorder(challenging: { _ in
            asked.withLock { $0 += 1 }
            return (.useCredential, credential)
        })
        let bench = try Bench(recorder)
        bench.server.handle("/a?b=c") { request in
            let answer = request["Authorization"] ?? ""
            let nonce = answer.isEmpty ? "old" : "new"
            let line =
                "Digest realm=\"r\", nonce=\"\(nonce)\", algorithm=SHA-256, qop=\"auth\", stale=\(!answer.isEmpty)"
            guard answer.contains("nonce=\"new\"") else {
                return Reply("no", status: 401, fields: ["WWW-Authenticate": line])
            }
            return Reply("yes")
        }
        await bench.run("/a?b=c")
        #expect(recorder.calls == [.head(200), .end(nil)])
        #expect(asked.withLock { $0 } == 1)
        #expect(bench.server.requests.last?["Authorization"]?.contains("uri=\"/a?b=c\"") == true)
    }

    @Test func `Digest and cookies are about the path that is sent`() async throws {
        let credential = credential
        let bench = try Bench(Recorder(challenging: { _ in (.useCredential, credential) }))
        let challenge = "Digest realm=\"r\", nonce=\"n\""
        bench.server.handle("/b/c?d=../e") { request in
            request["Authorization"] == nil
                ? Reply("no", status: 401, fields: ["WWW-Authenticate": "\(challenge)", "Set-Cookie": "x=1"])
                : Reply("yes")
        }
        await bench.run("/a/../b/./c?d=../e")
        #expect(bench.recorder.calls.last == .end(nil))
        let request = try #require(bench.server.requests.last)
        #expect(request.target == "/b/c?d=../e" && request["Cookie"] == "x=1")
        #expect(request["Authorization"]?.contains("uri=\"/b/c?d=../e\"") == true)
    }

    @Test func `a credential does not follow a redirect`() async throws {
        let credential = credential
        let bench = try Bench(Recorder(challenging: { _ in (.useCredential, credential) }))
        let other = try ScriptedServer()
        defer { other.stop() }
        other["/"] = Reply("other")
        let target = other.url("/").absoluteString
        bench.server.handle("/") { request in
            request["Authorization"] == nil
                ? Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""]) : .redirect(to: target)
        }
        await bench.run()
        #expect(other.requests.map { $0["Authorization"] } == [nil])
    }

    @Test func `fields of the session that hold credentials do not follow a redirect to another origin`() async throws {
        let other = try ScriptedServer()
        defer { other.stop() }
        let bench = try Bench {
            $0.httpAdditionalHeaders = ["authorization": "Bearer x", "COOKIE": "a=1", "X-Other": "1"]
        }
        bench.server["/"] = .redirect(to: "/here")
        bench.server["/here"] = .redirect(to: other.url("/").absoluteString)
        other["/"] = Reply("other")
        await bench.run()
        #expect(bench.server.requests.map { $0["Authorization"] } == ["Bearer x", "Bearer x"])
        let request = try #require(other.requests.first)
        #expect(request["Authorization"] == nil && request["Cookie"] == nil && request["X-Other"] == "1")
    }

    @Test func `cancelling the challenge fails the task`() async throws {
        let bench = try Bench(Recorder(challenging: { _ in (.cancelAuthenticationChallenge, nil) }))
        bench.server["/"] = Reply("no", status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
        await bench.run()
        #expect(bench.recorder.calls == [.end(.userCancelledAuthentication)])
    }

    @Test func `a body is sent again with the credential`() async throws {
        let credential = credential
        let bench = try Bench(Recorder(challenging: { _ in (.useCredential, credential) }))
        bench.server.handle("/") { Self.reply($0, "Basic realm=\"r\"", Self.basic) }
        await bench.run {
            $0.httpMethod = "POST"
            $0.httpBody = Data("body".utf8)
        }
        #expect(bench.recorder.calls.last == .end(nil))
        #expect(bench.server.requests.map(\.body) == [Data("body".utf8), Data("body".utf8)])
    }

    private static func reply(_ request: RecordedRequest, _ challenge: String, _ answer: String) -> Reply {
        request["Authorization"] == answer
            ? Reply("in") : Reply("out", status: 401, fields: ["WWW-Authenticate": "\(challenge)"])
    }
}
