import Foundation
import HTTPCaching
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("An interim head", .bounded)
struct InterimTests {
    static let hints = (status: 103, fields: ["Content-Length": "999999999999", "Link": "</a>; rel=preload"])

    static func reply(_ final: FakeReply) -> FakeReply {
        var reply = final
        reply.interim = [hints, (102, [:]), hints]
        return reply
    }

    @Test("is not the final response, and its length does not count, in both cache modes", arguments: [true, false])
    func ignored(isManaged: Bool) {
        let reply = Self.reply(FakeReply(200, ["Cache-Control": "max-age=60", "Content-Length": "5"], "hello"))
        let (managed, native) = (FetchHarness(reply), NativeHarness(reply))
        let network = isManaged ? managed.transport : native.session.network
        network.hold()
        let events = isManaged ? managed.load() : native.load()
        network.release(reply)
        network.hold(false)
        #expect(events.body == "hello")
        #expect(events.names == ["needsNetwork", "response", "received", "finished"])
        #expect(events.fetched?.trace.status == 200)
        #expect(network.requests.count == 1)
    }

    @Test("before a 304 does not prevent the 304 from confirming the entry")
    func confirmed() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "hello"))
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in Self.reply(FakeReply(304)) }
        #expect(harness.load().source == .revalidated)
    }

    @Test("without a final response is an error", arguments: [true, false])
    func alone(isStored: Bool) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        if isStored { harness.load() }
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in
            var reply = FakeReply(0)
            reply.interim = [Self.hints]
            return reply
        }
        let events = harness.load()
        #expect(events.source == (isStored ? .stale : nil))
        #expect(events.transportError == (isStored ? nil : .networkConnectionLost))
    }

    @Test("101 is an error, because no HTTP follows it")
    func switching() {
        #expect(FetchHarness(FakeReply(101)).load().status == 101)
    }

    @Test("from a server is passed over")
    func served() async throws {
        let bench = try Workbench()
        bench.server["/a"] = .raw(
            """
            HTTP/1.1 103 Early Hints\r\nContent-Length: 999999999999\r\nSet-Cookie: a=b\r\n\r\n\
            HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello
            """)
        let data = try await bench.synchronizer().load(DataResource(url: bench.server.url("/a")))
        #expect(data == Data("hello".utf8))
    }
}
