import Foundation
import FoundationNetworking
import ScriptedServer
import SynchronizerSupport
import TestTraits
import Testing

@testable import CurlSession

/// What a proxy responds to CONNECT.
@Suite(.bounded) struct ProxyTunnelTests {
    private static func use(_ proxy: ScriptedServer, of configuration: URLSessionConfiguration) {
        configuration.connectionProxyDictionary = [
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
        ]
    }

    private static let refusal = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"p\"\r\n"

    /// Responses without end: how they begin, what they repeat, and how the load ends. It has no response without a whole head.
    static let endless: [(String, String, [Recorder.Call])] = [
        (refusal + "Content-Length: 999999999999\r\n\r\n", "x", [.head(407), .end(nil)]),
        (refusal + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", [.head(407), .end(nil)]),
        (refusal, "X: y\r\n", [.end(.userAuthenticationRequired)]),
    ]

    /// libcurl reads such a response until it has no more bytes, and the thread of all sessions with it.
    @Test(arguments: endless)
    func `a proxy's endless refusal ends the load, and stops no other session`(
        begin: String, more: String, calls: [Recorder.Call]
    ) async throws {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        proxy["a.test:443"] = .script(
            .text(begin), .again([.text(String(repeating: more, count: 16 << 10))], times: nil))
        let (bench, other) = (try Bench { Self.use(proxy, of: $0) }, try Bench())
        other.server["/"] = Reply("hello")
        bench.start { $0.url = URL(string: "https://a.test/") }
        try await proxy.waitForRequests(1)
        await other.run()
        #expect(other.recorder.calls.last == .end(nil))
        await bench.recorder.waitForEnds()
        #expect(bench.recorder.calls == calls)
    }

    /// A password goes to a proxy as it is only if the proxy asks for that.
    @Test func `a proxy that offers neither Basic nor Digest gets no password`() async throws {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        proxy["a.test:443"] = .script(
            .text("HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n"))
        let asked = Locked(0)
        let recorder = Recorder(challenging: { _ in
            asked.withLock { $0 += 1 }
            return (.useCredential, URLCredential(user: "user", password: "pass", persistence: .none))
        })
        let bench = try Bench(recorder) { Self.use(proxy, of: $0) }
        await bench.run { $0.url = URL(string: "https://a.test/") }
        #expect(bench.recorder.calls == [.head(407), .end(nil)])
        #expect(asked.withLock { $0 } == 0)
        #expect(proxy.requests.map { $0["Proxy-Authorization"] } == [nil])
    }
}
