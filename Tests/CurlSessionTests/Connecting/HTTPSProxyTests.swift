import Foundation
import FoundationNetworking
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// A proxy that is itself reached over TLS. Only the environment can name one.
@Suite(.bounded) struct HTTPSProxyTests {
    private static func environment(_ relay: TLSRelay) -> [String: String] {
        ["http_proxy": "https://127.0.0.1:\(relay.port)"]
    }

    @Test(arguments: [true, false]) func `a proxy is trusted as servers are`(isTrusted: Bool) async throws {
        let proxy = try ScriptedServer { _ in Reply("through") }
        defer { proxy.stop() }
        let relay = try TLSRelay(to: proxy.port)
        let environment = Self.environment(relay)
        let bench = try isTrusted ? Bench.overTLS(environment: environment) : Bench(environment: environment)
        await bench.run { $0.url = URL(string: "http://a.test/") }
        #expect(
            bench.recorder.calls == (isTrusted ? [.head(200), .end(nil)] : [.end(.serverCertificateHasUnknownRoot)]))
        #expect(proxy.requests.count == (isTrusted ? 1 : 0))
    }

    @Test func `a proxy needs the minimum version of TLS`() async throws {
        let proxy = try ScriptedServer { _ in Reply("through") }
        defer { proxy.stop() }
        let relay = try TLSRelay(to: proxy.port) { $0.maximumVersion = .tls12 }
        var options = CurlSession.Options()
        (options.tls.additionalAuthorities, options.tls.minimumVersion) = (TestCertificate.authority.text, .tls13)
        let bench = try Bench(options: options, environment: Self.environment(relay))
        await bench.run { $0.url = URL(string: "http://a.test/") }
        #expect(bench.recorder.calls == [.end(.secureConnectionFailed)])
    }

    /// libcurl 7.88.1 to 8.0.1 need PINGs with HTTP/2.
    @Test func `HTTP/2 is used through a proxy over TLS, except with a libcurl that needs PINGs`() async throws {
        let needsPings = CurlVersion.overlooksEnds
        let server = try HTTP2Server { request, _ in HTTP2Server.Frame.response(request.stream, "hello") }
        let plain = try ScriptedServer { _ in Reply("hello") }
        defer { plain.stop() }
        if needsPings { server.relay.change { $0.upstream = plain.port } }
        let proxy = try TunnelProxy(to: server.relay.port)
        let relay = try TLSRelay(to: proxy.port)
        let bench = try Bench.overTLS(environment: ["https_proxy": "https://127.0.0.1:\(relay.port)"])
        let task = await bench.run { $0.url = server.relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(nil)] && proxy.requests.count == 1)
        #expect(task.metrics.protocolName == (needsPings ? "http/1.1" : "h2"))
    }

    @Test func `bytes behind a proxy's response in the same TLS record are not the answer to the next request`()
        async throws
    {
        let proxy = try ScriptedServer()
        defer { proxy.stop() }
        let relay = try TLSRelay(to: proxy.port)
        let bench = try Bench.overTLS(environment: Self.environment(relay))
        let gate = Gate()
        let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
        proxy["http://a.test/first"] = .script(
            .text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), .wait(gate), .text("12345" + poison))
        proxy["http://a.test/second"] = Reply("second")
        bench.start { $0.url = URL(string: "http://a.test/first") }
        while bench.recorder.body.isEmpty { await Task.yield() }
        gate.open()
        await bench.recorder.waitForEnds(1)
        await bench.run { $0.url = URL(string: "http://a.test/second") }
        #expect(bench.recorder.body == Data("first12345second".utf8))
    }
}
