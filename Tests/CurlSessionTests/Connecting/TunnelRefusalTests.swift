import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// A proxy that answers CONNECT with 407, and a session that has no credential for it, or a wrong one.
@Suite(.bounded) struct TunnelRefusalTests {
    private static let url = URL(string: "https://a.test/x")
    private static let basic = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"

    /// A proxy with this response to each CONNECT.
    private func proxy(_ response: String) throws -> TunnelProxy { try TunnelProxy(to: 0) { _ in response } }

    /// The proxy is not the origin of the URL, so it must not set its cookies, say how long the response lives, or redirect.
    @Test func `the refusal is the response: its challenges, without the other fields and the body`() async throws {
        let proxy = try proxy(
            """
            HTTP/1.0 407 No\r
            Proxy-Authenticate: Basic realm="p"\r
            Set-Cookie: a=b\r
            Cache-Control: max-age=1000\r
            ETag: "e"\r
            Location: https://b.test/\r
            WWW-Authenticate: Basic realm="w"\r
            Content-Encoding: gzip\r
            proxy-authenticate: Negotiate\r
            Proxy-Authentication-Info: a=b\r
            Content-Length: 5\r
            \r
            hello
            """)
        let configuration = Configured()
        let bench = try Bench {
            configuration.keep($0)
            $0.connectionProxyDictionary = proxy.dictionary()
        }
        let task = await bench.run { $0.url = Self.url }
        #expect(bench.recorder.calls == [.head(407), .end(nil)])
        #expect(
            bench.recorder.heads == [
                CurlResponseHead(
                    url: try #require(Self.url), version: "HTTP/1.1", status: 407,
                    fields: [
                        .init(name: "Proxy-Authenticate", value: "Basic realm=\"p\""),
                        .init(name: "proxy-authenticate", value: "Negotiate"),
                    ])
            ])
        #expect(bench.recorder.body.isEmpty)
        #expect(configuration.storage?.cookies?.isEmpty == true)
        #expect((task.response as? HTTPURLResponse)?.allHeaderFields.count == 1)
        #expect(proxy.requests.map(\.target) == ["a.test:443"])
    }

    @Test func `the response does not wait for the body of the refusal`() async throws {
        let proxy = try proxy(Self.basic.replacingOccurrences(of: "Length: 0", with: "Length: 5"))
        let bench = try Bench { $0.connectionProxyDictionary = proxy.dictionary() }
        await bench.run { $0.url = Self.url }
        #expect(bench.recorder.calls == [.head(407), .end(nil)])
    }

    @Test func `a completion handler gets the response, with no bytes`() async throws {
        let proxy = try proxy(Self.basic)
        let bench = try Bench { $0.connectionProxyDictionary = proxy.dictionary() }
        let (data, response) = try await bench.session.data(from: try #require(Self.url))
        #expect(data.isEmpty)
        #expect((response as? HTTPURLResponse)?.statusCode == 407)
    }

    @Test func `an upload gets the response, and nothing of it is sent`() async throws {
        let proxy = try proxy(Self.basic)
        let bench = try Bench { $0.connectionProxyDictionary = proxy.dictionary() }
        await bench.run {
            ($0.url, $0.httpMethod, $0.httpBody) = (Self.url, "POST", Data(count: 100_000))
        }
        #expect(bench.recorder.calls == [.head(407), .end(nil)])
        #expect(proxy.requests.count == 1)
    }

    @Test(arguments: [100, 103, 200, 204, 301, 304, 401, 403, 404, 502, 503])
    func `another response of the proxy is no response`(status: Int) async throws {
        let server = try ScriptedServer()
        defer { server.stop() }
        let proxy = try TunnelProxy(to: server.port) { _ in
            "HTTP/1.1 \(status) x\r\nProxy-Authenticate: Basic\r\nLocation: /\r\nContent-Length: 5\r\n\r\nhello"
        }
        let bench = try Bench { $0.connectionProxyDictionary = proxy.dictionary() }
        await bench.run { $0.url = Self.url }
        // After 200, the bytes are not TLS.
        let isOpen = (200..<300).contains(status)
        #expect(bench.recorder.calls == [.end(isOpen ? .secureConnectionFailed : .cannotConnectToHost)])
    }

    @Test func `a refusal that ends before its head does is no response`() async throws {
        let server = try ScriptedServer()
        defer { server.stop() }
        server["a.test:443"] = .raw("HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\n")
        let bench = try Bench {
            $0.connectionProxyDictionary = [
                "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(server.port),
            ]
        }
        await bench.run { $0.url = Self.url }
        #expect(bench.recorder.calls == [.end(.userAuthenticationRequired)])
    }

    @Test func `the refusal of a credential is the response, too, and the delegate sees it`() async throws {
        let proxy = try proxy(Self.basic)
        let asked = Collector<(failures: Int, status: Int?)>()
        let recorder = Recorder(challenging: { challenge in
            let status = (challenge.failureResponse as? HTTPURLResponse)?.statusCode
            asked.append((challenge.previousFailureCount, status))
            let credential = URLCredential(user: "user", password: "pass", persistence: .none)
            return challenge.previousFailureCount == 0 ? (.useCredential, credential) : (.performDefaultHandling, nil)
        })
        let bench = try Bench(recorder) { $0.connectionProxyDictionary = proxy.dictionary() }
        await bench.run { $0.url = Self.url }
        #expect(bench.recorder.calls == [.head(407), .end(nil)])
        #expect(asked.elements.map(\.failures) == [0, 1])
        #expect(asked.elements.map(\.status) == [407, 407])
        #expect(bench.recorder.heads.first?.fields.map(\.name) == ["Proxy-Authenticate"])
        let basic = "Basic " + Data("user:pass".utf8).base64EncodedString()
        #expect(proxy.requests.first?["Proxy-Authorization"] == nil)
        #expect(proxy.requests.last?["Proxy-Authorization"] == basic)
    }

    @Test func `a wrong credential of the configuration ends with the response`() async throws {
        let proxy = try proxy(Self.basic)
        let bench = try Bench { $0.connectionProxyDictionary = proxy.dictionary(user: "user", password: "wrong") }
        await bench.run { $0.url = Self.url }
        #expect(bench.recorder.calls == [.head(407), .end(nil)])
    }

    @Test func `a delegate can cancel a challenge instead`() async throws {
        let proxy = try proxy(Self.basic)
        let recorder = Recorder(challenging: { _ in (.cancelAuthenticationChallenge, nil) })
        let bench = try Bench(recorder) { $0.connectionProxyDictionary = proxy.dictionary() }
        await bench.run { $0.url = Self.url }
        #expect(bench.recorder.calls == [.end(.userCancelledAuthentication)])
    }

    @Test func `a proxy may refuse a tunnel that it has opened before`() async throws {
        let server = try ScriptedServer { _ in Reply("hello").closing() }
        defer { server.stop() }
        let relay = try TLSRelay(to: server.port)
        let isOpen = Locked(true)
        let proxy = try TunnelProxy(to: relay.port) { _ in isOpen.withLock { $0 } ? nil : Self.basic }
        let bench = try Bench.overTLS { $0.connectionProxyDictionary = proxy.dictionary() }
        await bench.run { $0.url = relay.url() }
        isOpen.withLock { $0 = false }
        await bench.run { $0.url = relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(nil), .head(407), .end(nil)])
        #expect(proxy.requests.count == 2)
    }
}
