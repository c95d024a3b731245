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

    @Test func `after a challenge, a body goes over another connection: the proxy may not have read the first`()
        async throws
    {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        proxy.handle("http://a.test/x") { request in
            request["Proxy-Authorization"] == Self.basic
                ? Reply("through") : Reply(status: 407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""])
        }
        let bench = try Bench {
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port), "kCFProxyUsernameKey": "user",
                "kCFProxyPasswordKey": "pass",
            ]
        }
        let body = Data(count: 300_000)
        await bench.run {
            $0.url = URL(string: "http://a.test/x")
            $0.httpMethod = "POST"
            $0.httpBody = body
        }
        #expect(bench.recorder.calls.suffix(2) == [.head(200), .end(nil)])
        #expect(proxy.requests.map(\.body) == [body, body])
        #expect(Set(proxy.requests.map(\.connection)).count == 2)
    }

    @Test func `a server does not get the credential of a proxy`() async throws {
        let bench = try Bench(Recorder(challenging: { _ in (.performDefaultHandling, nil) })) {
            $0.connectionProxyDictionary = [
                "SOCKSEnable": 0, "kCFProxyUsernameKey": "user", "kCFProxyPasswordKey": "pass",
            ]
        }
        bench.server["/"] = Reply("", status: 407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""])
        await bench.run { $0.setValue("secret", forHTTPHeaderField: "Proxy-Authorization") }
        #expect(bench.recorder.calls == [.head(407), .end(nil)])
        #expect(bench.server.requests.map { $0["Proxy-Authorization"] } == [nil])
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

    @Test func `a proxy's challenge is answered with the credential that the configuration has for it`() async throws {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        proxy.handle("http://a.test/x") { request in
            request["Proxy-Authorization"] == Self.basic
                ? Reply("through") : Reply(status: 407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""])
        }
        let bench = try Bench {
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port), "kCFProxyUsernameKey": "user",
                "kCFProxyPasswordKey": "pass",
            ]
        }
        await bench.run { $0.url = URL(string: "http://a.test/x") }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(bench.recorder.body == Data("through".utf8))
        #expect(proxy.requests.map { $0["Authorization"] } == [nil, nil])
    }

    @Test func `a proxy's Digest challenge is answered, and neither password nor answer reaches the server`()
        async throws
    {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        let challenge = "Digest realm=\"p\", nonce=\"n\", algorithm=SHA-256, qop=\"auth\""
        proxy.handle("http://a.test/x") { request in
            request["Proxy-Authorization"]?.hasPrefix("Digest ") == true
                ? Reply("through") : Reply(status: 407, fields: ["Proxy-Authenticate": "\(challenge)"])
        }
        let bench = try Bench {
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port), "kCFProxyUsernameKey": "user",
                "kCFProxyPasswordKey": "pass",
            ]
        }
        await bench.run { $0.url = URL(string: "http://a.test/x") }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        let answer = try #require(proxy.requests.last?["Proxy-Authorization"])
        #expect(answer.contains("username=\"user\"") && answer.contains("uri=\"/x\"") && !answer.contains("pass"))
        #expect(proxy.requests.map { $0["Authorization"] } == [nil, nil])
    }

    @Test func `a proxy that asks for Digest before a tunnel gets an answer`() async throws {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        proxy.handle("a.test:443") { request in
            request["Proxy-Authorization"]?.hasPrefix("Digest ") == true
                ? .raw("HTTP/1.1 503 x\r\n\r\n")
                : .script(
                    .text(
                        "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\nContent-Length: 0\r\n\r\n"
                    ))
        }
        let bench = try Bench {
            $0.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
                "kCFProxyUsernameKey": "user", "kCFProxyPasswordKey": "pass",
            ]
        }
        await bench.run { $0.url = URL(string: "https://a.test/") }
        #expect(bench.recorder.calls == [.end(.cannotConnectToHost)])
        #expect(proxy.requests.last?["Proxy-Authorization"]?.contains("uri=\"a.test:443\"") == true)
    }

    @Test func `a proxy that refuses a tunnel is asked again with a credential`() async throws {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        let refusal = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"
        proxy.handle("a.test:443") {
            $0["Proxy-Authorization"] == Self.basic ? .raw("HTTP/1.1 503 x\r\n\r\n") : .raw(refusal)
        }
        let asked = Locked<[Int]>([])
        let credential = credential
        let recorder = Recorder(challenging: { challenge in
            asked.withLock { $0.append(challenge.previousFailureCount) }
            return challenge.protectionSpace.isProxy()
                ? (.useCredential, credential) : (.cancelAuthenticationChallenge, nil)
        })
        let bench = try Bench(recorder) {
            $0.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
            ]
        }
        await bench.run { $0.url = URL(string: "https://a.test/") }
        #expect(recorder.calls == [.end(.cannotConnectToHost)])
        #expect(asked.withLock { $0 } == [0])
        #expect(proxy.requests.last?["Proxy-Authorization"] == Self.basic)
    }

    private static func reply(_ request: RecordedRequest, _ challenge: String, _ answer: String) -> Reply {
        request["Authorization"] == answer
            ? Reply("in") : Reply("out", status: 401, fields: ["WWW-Authenticate": "\(challenge)"])
    }
}
