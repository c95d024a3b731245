import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// The `Proxy-Authorization` of requests through a tunnel.
@Suite(.bounded) struct TunnelAuthorizationTests {
    private static let field = "Proxy-Authorization"
    private static let refusal = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"

    private let server: ScriptedServer
    private let relay: TLSRelay

    init() throws {
        server = try ScriptedServer { Reply($0.target) }
        relay = try TLSRelay(to: server.port)
    }

    /// A proxy that opens tunnels for these values of the field; for all if there are none.
    private func proxy(_ values: String?...) throws -> TunnelProxy {
        try TunnelProxy(to: relay.port) { values.isEmpty || values.contains($0[Self.field]) ? nil : Self.refusal }
    }

    private func bench(_ proxy: TunnelProxy, _ recorder: Recorder = Recorder(), user: String? = nil) throws -> Bench {
        try Bench.overTLS(recorder) { $0.connectionProxyDictionary = proxy.dictionary(user: user, password: "pass") }
    }

    private func run(_ bench: Bench, _ value: String?, _ url: URL? = nil) async {
        await bench.run {
            $0.url = url ?? relay.url()
            $0.setValue(value, forHTTPHeaderField: Self.field)
        }
    }

    /// What the proxy has got, and that the server has got none.
    private func expect(
        _ values: [String?], at proxy: TunnelProxy, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(proxy.requests.map { $0[Self.field] } == values, sourceLocation: sourceLocation)
        #expect(server.requests.allSatisfy { $0[Self.field] == nil }, sourceLocation: sourceLocation)
    }

    @Test func `the field goes to the proxy with CONNECT, and not through the tunnel`() async throws {
        let proxy = try proxy("mine")
        let bench = try bench(proxy)
        await run(bench, "mine")
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        expect(["mine"], at: proxy)
    }

    @Test func `the field of the configuration does, too, but that of the request takes precedence`() async throws {
        let proxy = try proxy()
        let bench = try Bench.overTLS {
            $0.connectionProxyDictionary = proxy.dictionary()
            $0.httpAdditionalHeaders = ["proxy-authorization": "session's", "X-A": "a"]
        }
        await run(bench, nil)
        await run(bench, "mine")
        expect(["session's", "mine"], at: proxy)
        #expect(server.requests.map { $0["X-A"] } == ["a", "a"])
    }

    @Test func `a direct connection and a SOCKS proxy do not get the field`() async throws {
        let bench = try Bench.overTLS()
        await run(bench, "mine")
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(server.requests.map { $0[Self.field] } == [nil])
        let exchange = try Exchange(
            URLRequest(url: relay.url()).with(Self.field, "mine"), body: .none, idleLimit: 1,
            proxy: ProxyRules.Proxy("socks5h://127.0.0.1:1"))
        #expect(exchange.tunnelAuthorization == nil && exchange.fields.isEmpty)
    }

    @Test func `after a redirect to another origin, the proxy does not get the field`() async throws {
        let proxy = try proxy()
        let bench = try bench(proxy)
        server["/away"] = .redirect(to: relay.url("/there", host: "name.test").absoluteString)
        server["/near"] = .redirect(to: "/here")
        await run(bench, "mine", relay.url("/away"))
        #expect(bench.recorder.calls == [.redirect(302, "/there"), .head(200), .end(nil)])
        expect(["mine", nil], at: proxy)
        await run(bench, "mine", relay.url("/near"))
        expect(["mine", nil], at: proxy)
        #expect(server.requests.map(\.target) == ["/away", "/there", "/near", "/here"])
    }

    /// The proxy may allow one user what it forbids another.
    @Test func `a tunnel is used again only with the same field`() async throws {
        let proxy = try proxy()
        let bench = try bench(proxy)
        for value in ["one", "one", "two", "two", nil, nil, "one"] { await run(bench, value) }
        expect(["one", "two", nil, "one"], at: proxy)
        #expect(bench.recorder.calls.filter { $0 == .head(200) }.count == 7)
    }

    @Test func `a tunnel of HTTP/2 is shared only with the same field`() async throws {
        let server = try HTTP2Server { request, _ in HTTP2Server.Frame.response(request.stream, "hello") }
        let proxy = try TunnelProxy(to: server.relay.port)
        let bench = try bench(proxy)
        for value in ["one", "one", "two", "one"] { await run(bench, value, server.relay.url()) }
        #expect(bench.recorder.calls.filter { $0 == .head(200) }.count == 4)
        #expect(proxy.requests.map { $0[Self.field] } == ["one", "two"])
        // The first tunnel stays open when the third request does not use it.
        #expect(server.requests.map(\.connection) == [1, 1, 2, 1])
    }

    @Test func `a proxy that is itself reached over TLS gets the field, too`() async throws {
        let proxy = try proxy("one", "two")
        let front = try TLSRelay(to: proxy.port)
        let bench = try Bench.overTLS(environment: ["https_proxy": "https://127.0.0.1:\(front.port)"])
        for value in ["none", "one", "one", "two"] { await run(bench, value) }
        expect(["none", "one", "two"], at: proxy)
        #expect(bench.recorder.calls.filter { $0 == .head(407) }.count == 1)
        #expect(bench.recorder.calls.filter { $0 == .head(200) }.count == 3)
    }

    @Test func `an upload of a stream that needs a tunnel of its own gets one`() async throws {
        let proxy = try proxy()
        let bench = try bench(proxy)
        await run(bench, "one")
        await bench.run {
            ($0.url, $0.httpMethod) = (relay.url(), "POST")
            $0.httpBodyStream = InputStream(data: Data("streamed".utf8))
            $0.setValue("two", forHTTPHeaderField: Self.field)
        }
        expect(["one", "two"], at: proxy)
        #expect(server.requests.last?.body == Data("streamed".utf8))
    }

    @Test func `the field takes the place of the configuration's credential, which answers its refusal`() async throws {
        let basic = "Basic " + Data("user:pass".utf8).base64EncodedString()
        let proxy = try proxy("mine", basic)
        let bench = try bench(proxy, user: "user")
        await run(bench, "mine")
        expect(["mine"], at: proxy)
        await run(bench, "wrong")
        expect(["mine", "wrong", basic], at: proxy)
        #expect(bench.recorder.calls == [.head(200), .end(nil), .head(200), .end(nil)])
    }

    @Test func `with Digest, too, the proxy gets one answer at a time`() async throws {
        let proxy = try TunnelProxy(to: relay.port) { request in
            request[Self.field]?.hasPrefix("Digest username=\"user\"") == true
                ? nil
                : "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\"\r\nContent-Length: 0\r\n\r\n"
        }
        let bench = try bench(proxy, user: "user")
        await run(bench, "wrong")
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
        #expect(proxy.requests.first?[Self.field] == "wrong")
        #expect(server.requests.map { $0[Self.field] } == [nil])
    }

    @Test func `a request with a field does not use a tunnel that another credential has opened`() async throws {
        let basic = "Basic " + Data("user:pass".utf8).base64EncodedString()
        let proxy = try proxy(basic, "mine")
        let configured = try bench(proxy, user: "user")
        let recorder = Recorder(challenging: { _ in
            (.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
        })
        for bench in [configured, try bench(proxy, recorder)] {
            let before = proxy.requests.count
            await run(bench, nil)
            await run(bench, "mine")
            #expect(proxy.requests.dropFirst(before).map { $0[Self.field] } == [nil, basic, "mine"])
            #expect(bench.recorder.calls == [.head(200), .end(nil), .head(200), .end(nil)])
        }
        #expect(server.requests.allSatisfy { $0[Self.field] == nil })
    }

    @Test func `requests without a field share the tunnel that the configuration's credential has opened`() async throws
    {
        let proxy = try proxy("Basic " + Data("user:pass".utf8).base64EncodedString())
        let bench = try bench(proxy, user: "user")
        for _ in 0..<3 { await run(bench, nil) }
        #expect(bench.recorder.calls.filter { $0 == .head(200) }.count == 3)
        #expect(proxy.requests.count == 2)
    }

    @Test(arguments: [true, false]) func `a field that can't be sent fails the task`(isOwn: Bool) async throws {
        let proxy = try proxy()
        let fields = [Self.field: "secret\r\nX-A: a"]
        let bench = try Bench.overTLS {
            $0.connectionProxyDictionary = proxy.dictionary()
            if !isOwn { $0.httpAdditionalHeaders = fields }
        }
        let task = await bench.run {
            $0.url = relay.url()
            if isOwn { $0.allHTTPHeaderFields = fields }
        }
        #expect(bench.recorder.calls == [.end(.badURL)])
        #expect(task.error?.localizedDescription.contains(Self.field) == true)
        #expect(proxy.requests.isEmpty)
    }
}

extension URLRequest {
    fileprivate func with(_ name: String, _ value: String) -> URLRequest {
        var request = self
        request.setValue(value, forHTTPHeaderField: name)
        return request
    }
}
