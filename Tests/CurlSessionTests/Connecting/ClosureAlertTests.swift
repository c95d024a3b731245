import Foundation
import FoundationNetworking
import ScriptedServer
import Synchronizer
import TestSupport
import TestTraits
import Testing

@testable import CurlSession

/// Responses over TLS that end with their connections, and whether the server has said that it closes them (RFC 9112 §9.8).
@Suite(.bounded) struct ClosureAlertTests {
    private static func reply(_ fields: String, _ body: [UInt8]) -> Reply {
        .script(.text("HTTP/1.1 200 OK\r\n\(fields)\r\n"), .bytes(Data(body)), .close)
    }

    private static let body = [UInt8](repeating: 120, count: 100)

    @Test(arguments: [TLSConfiguration.Version.tls12, .tls13], TLSRelay.Ending.allCases)
    func `a response that ends with the connection is complete only after the alert`(
        version: TLSConfiguration.Version, ending: TLSRelay.Ending
    ) async throws {
        let bench = try Bench.overTLS()
        bench.server["/"] = Self.reply("", Self.body)
        let relay = try TLSRelay(to: bench.server.port) {
            ($0.maximumVersion, $0.ending) = (version, ending)
        }
        await bench.run { $0.url = relay.url() }
        #expect(bench.recorder.calls == [.head(200), .end(ending == .alert ? nil : .networkConnectionLost)])
        #expect(bench.recorder.body == Data(Self.body))
    }

    /// The next member of gzip, or the next frame of zstd, may be missing.
    @Test(arguments: [TLSRelay.Ending.alert, .silence])
    func `the end of a content coding is not the end of the response`(ending: TLSRelay.Ending) async throws {
        let bench = try Bench.overTLS()
        bench.server["/"] = Self.reply("Content-Encoding: gzip\r\n", Encoder.gzip(Self.body))
        let relay = try TLSRelay(to: bench.server.port) { $0.ending = ending }
        await bench.run { $0.url = relay.url() }
        #expect(bench.recorder.calls.last == .end(ending == .alert ? nil : .networkConnectionLost))
        #expect(bench.recorder.body == Data(Self.body))
    }

    static let ended = [
        Reply("hello").failing(.close(.afterBody(5))),
        reply("Transfer-Encoding: chunked\r\n", Array("5\r\nhello\r\n0\r\n\r\n".utf8)),
        .script(.text("HTTP/1.1 204 No\r\n\r\n"), .close),
    ]

    @Test(arguments: ended.indices) func `another response needs no alert`(index: Int) async throws {
        let bench = try Bench.overTLS()
        bench.server["/"] = Self.ended[index]
        let relay = try TLSRelay(to: bench.server.port) { $0.ending = .silence }
        await bench.run { $0.url = relay.url() }
        #expect(bench.recorder.calls.last == .end(nil))
    }

    @Test func `a response to HEAD needs no alert`() async throws {
        let bench = try Bench.overTLS()
        bench.server["/"] = Self.reply("", [])
        let relay = try TLSRelay(to: bench.server.port) { $0.ending = .silence }
        await bench.run {
            $0.url = relay.url()
            $0.httpMethod = "HEAD"
        }
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
    }

    @Test(arguments: TLSRelay.Ending.allCases)
    func `the alert counts for the last request of a connection, and through a tunnel`(
        ending: TLSRelay.Ending
    ) async throws {
        let server = try ScriptedServer()
        defer { server.stop() }
        server["/first"] = Reply("hello")
        server["/last"] = Self.reply("", Self.body)
        let relay = try TLSRelay(to: server.port) { $0.ending = ending }
        let proxy = try TunnelProxy(to: relay.port) { _ in nil }
        let bench = try Bench.overTLS { $0.connectionProxyDictionary = proxy.dictionary() }
        for target in ["/first", "/last"] { await bench.run { $0.url = relay.url(target) } }
        #expect(bench.recorder.calls.last == .end(ending == .alert ? nil : .networkConnectionLost))
        #expect(relay.counts.connections == 1)
    }

    @Test func `a Synchronizer does not store a response that may be cut short`() async throws {
        let bench = try Workbench()
        let fields = "Cache-Control: max-age=1000\r\n"
        bench.server["/"] = Self.reply(fields, Array("not all of it".utf8))
        let relay = try TLSRelay(to: bench.server.port) { $0.ending = .silence }
        let synchronizer = bench.synchronizer { $0.tls.additionalAuthorities = TestCertificate.authority.text }
        let resource = DataResource(url: relay.url())
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
        #expect((error?.underlyingError as? URLError)?.code == .networkConnectionLost)
        relay.change { $0.ending = .alert }
        bench.server["/"] = Self.reply(fields, Self.body)
        #expect(try await synchronizer.loaded(resource).source == .network)
        #expect(try await synchronizer.loaded(resource).object == Data(Self.body))
        #expect(bench.server.requests.count == 2)
    }

    /// Nothing protects the end of such a connection.
    @Test func `without TLS the end of the connection ends the response`() async throws {
        let bench = try Bench()
        bench.server["/"] = Self.reply("", Self.body)
        await bench.run()
        #expect(bench.recorder.calls == [.head(200), .end(nil)])
    }
}
