import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

@Suite(.bounded) struct ProxyAuthenticationTests {
    private let credential = URLCredential(user: "user", password: "pass", persistence: .none)
    private static let basic = "Basic " + Data("user:pass".utf8).base64EncodedString()

    /// A proxy that takes `basic` for a resource of `a.test`.
    private static func proxy() throws -> ScriptedServer {
        let proxy = try ScriptedServer()
        proxy.handle("http://a.test/x") { request in
            request["Proxy-Authorization"] == basic
                ? Reply("through") : Reply(status: 407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""])
        }
        return proxy
    }

    /// Has a session use a proxy.
    /// - Parameters:
    ///   - kind: `HTTP`, or `HTTPS` for tunnels.
    ///   - password: The password of `user`; nil if the configuration has no credential.
    private static func use(
        _ proxy: ScriptedServer, of configuration: URLSessionConfiguration, for kind: String = "HTTP",
        password: String? = nil
    ) {
        var dictionary: [AnyHashable: Any] = [
            kind + "Enable": 1, kind + "Proxy": "127.0.0.1", kind + "Port": Int(proxy.port),
        ]
        if let password {
            dictionary["kCFProxyUsernameKey"] = "user"
            dictionary["kCFProxyPasswordKey"] = password
        }
        configuration.connectionProxyDictionary = dictionary
    }

    @Test func `after a challenge, a body goes over another connection: the proxy may not have read the first`()
        async throws
    {
        let proxy = try Self.proxy()
        defer { proxy.stop() }
        let bench = try Bench { Self.use(proxy, of: $0, password: "pass") }
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

    @Test func `only a proxy gets the Proxy-Authorization of the configuration`() async throws {
        let proxy = try Self.proxy()
        defer { proxy.stop() }
        for isDirect in [true, false] {
            let bench = try Bench {
                if !isDirect { Self.use(proxy, of: $0) }
                $0.httpAdditionalHeaders = ["proxy-authorization": Self.basic]
            }
            for _ in 0..<2 {
                await bench.run { request in
                    if !isDirect { request.url = URL(string: "http://a.test/x") }
                }
            }
            await bench.run { request in
                if !isDirect { request.url = URL(string: "http://a.test/x") }
                request.setValue("x", forHTTPHeaderField: "X")
            }
            let requests = isDirect ? bench.server.requests : proxy.requests
            #expect(
                requests.map { $0["Proxy-Authorization"] } == Array(repeating: isDirect ? nil : Self.basic, count: 3))
        }
    }

    @Test func `the credential for one proxy is not sent to another`() async throws {
        let (first, second) = (try ScriptedServer(), try ScriptedServer())
        defer {
            first.stop()
            second.stop()
        }
        first.handle("http://a.test/x") {
            $0["Proxy-Authorization"] == Self.basic
                ? .redirect(to: "https://b.test/", status: 302)
                : Reply(status: 407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""])
        }
        second["b.test:443"] = .raw("HTTP/1.1 503 x\r\n\r\n")
        let credential = credential
        let bench = try Bench(Recorder(challenging: { _ in (.useCredential, credential) })) {
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(first.port),
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(second.port),
            ]
        }
        await bench.run { $0.url = URL(string: "http://a.test/x") }
        #expect(bench.recorder.calls == [.redirect(302, "/"), .end(.cannotConnectToHost)])
        #expect(first.requests.count == 2)
        #expect(second.requests.map { $0["Proxy-Authorization"] } == [nil])
    }

    /// An answer holds for one method and target (RFC 7616 §3.4).
    @Test func `after a redirect, a proxy's Digest challenge is answered anew`() async throws {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        let refusal = Reply(status: 407, fields: ["Proxy-Authenticate": "Digest realm=\"p\", nonce=\"n\""])
        for (path, reply) in [("/x", Reply.redirect(to: "http://a.test/y", status: 302)), ("/y", Reply("through"))] {
            proxy.handle("http://a.test\(path)") { request in
                request["Proxy-Authorization"]?.contains("uri=\"\(path)\"") == true ? reply : refusal
            }
        }
        let bench = try Bench { Self.use(proxy, of: $0, password: "pass") }
        await bench.run { $0.url = URL(string: "http://a.test/x") }
        #expect(bench.recorder.calls == [.redirect(302, "/y"), .head(200), .end(nil)])
        #expect(proxy.requests.count == 4)
    }

    @Test func `a proxy's challenge is answered with the credential that the configuration has for it`() async throws {
        let proxy = try Self.proxy()
        defer { proxy.stop() }
        let bench = try Bench { Self.use(proxy, of: $0, password: "pass") }
        await bench.run { $0.url = URL(string: "http://a.test/x") }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(bench.recorder.body == Data("through".utf8))
        #expect(proxy.requests.map { $0["Authorization"] } == [nil, nil])
    }

    @Test func `a proxy that has taken Basic gets the credential with later requests at once`() async throws {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        let password = Locked("pass")
        proxy.handle("http://a.test/x") { request in
            let expected = "Basic " + Data("user:\(password.withLock { $0 })".utf8).base64EncodedString()
            return request["Proxy-Authorization"] == expected
                ? Reply("through") : Reply(status: 407, fields: ["Proxy-Authenticate": "Basic realm=\"p\""])
        }
        let recorder = Recorder(challenging: { _ in
            let credential = URLCredential(user: "user", password: password.withLock { $0 }, persistence: .none)
            return (.useCredential, credential)
        })
        let bench = try Bench(recorder) { Self.use(proxy, of: $0) }
        await bench.run { $0.url = URL(string: "http://a.test/x") }
        #expect(proxy.requests.count == 2)
        // The stream could not be read twice.
        await bench.run {
            ($0.url, $0.httpMethod) = (URL(string: "http://a.test/x"), "POST")
            $0.httpBodyStream = InputStream(data: Data("streamed".utf8))
        }
        #expect(proxy.requests.count == 3)
        #expect(proxy.requests.last?.body == Data("streamed".utf8))
        password.withLock { $0 = "other" }
        await bench.run { $0.url = URL(string: "http://a.test/x") }
        #expect(proxy.requests.count == 5)
        #expect(bench.recorder.calls.filter { $0 == .head(200) }.count == 3)
        #expect(!bench.recorder.calls.contains(.needsBody))
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
        let bench = try Bench { Self.use(proxy, of: $0, password: "pass") }
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
        let bench = try Bench { Self.use(proxy, of: $0, for: "HTTPS", password: "pass") }
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
        let bench = try Bench(recorder) { Self.use(proxy, of: $0, for: "HTTPS") }
        await bench.run { $0.url = URL(string: "https://a.test/") }
        #expect(recorder.calls == [.end(.cannotConnectToHost)])
        #expect(asked.withLock { $0 } == [0])
        #expect(proxy.requests.last?["Proxy-Authorization"] == Self.basic)
    }
}
