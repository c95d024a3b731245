import Foundation
import HTTPCaching
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// RFC 9111 §4.4: the server has changed the resource when the head of its response arrives.
@Suite("A response to an unsafe method", .bounded)
struct InvalidationTests {
    /// How the body of the response does not arrive.
    enum Ending: CaseIterable, Sendable {
        case cutShort, reset, statesTooMuch, tooLarge
    }

    private static let limit = 100

    private static func reply(_ ending: Ending) -> FakeReply {
        var reply = FakeReply(200, ["Location": "/y"], "hello")
        switch ending {
        case .cutShort: reply.fields["Content-Length"] = "10"
        case .reset: reply.error = URLError(.networkConnectionLost)
        case .statesTooMuch: reply.fields["Content-Length"] = "101"
        case .tooLarge: reply.chunks = [Data(count: 60), Data(count: 60)]
        }
        return reply
    }

    private func harness(_ urls: [String] = ["http://a.example/x", "http://a.example/y"]) -> FetchHarness {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "old"))
        for url in urls { harness.load(url) }
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60"], "new") }
        return harness
    }

    @Test("removes the entries even if its body does not arrive, or is too large", arguments: Ending.allCases)
    func incomplete(ending: Ending) {
        let harness = harness()
        harness.transport.serve { _ in Self.reply(ending) }
        #expect(harness.load(harness.request { $0.httpMethod = "POST" }, limit: Self.limit).error != nil)
        #expect(harness.store.all.isEmpty)
        harness.transport.serve { _ in FakeReply(200, ["Cache-Control": "max-age=60"], "new") }
        for path in ["x", "y"] { #expect(harness.load("http://a.example/\(path)").body == "new") }
    }

    @Test(
        "removes the entries even if its load was cancelled, or the network switched off, after its head",
        arguments: [false, true])
    func abandoned(isSwitchedOff: Bool) throws {
        let harness = harness()
        harness.transport.hold()
        let load = harness.load { $0.httpMethod = "POST" }
        let transfer = try #require(harness.transport.held.first)
        let head = ResponseHead(
            url: try #require(harness.request().url), status: 200, fields: HTTPFields([("Location", "/y")]))
        transfer.report(.response(head))
        // Lookups miss at once: they do not wait for the disk.
        harness.transport.hold(false)
        for path in ["x", "y"] { #expect(harness.load("http://a.example/\(path)").body == "new") }
        if isSwitchedOff { harness.transport.interrupt() } else { load.fetch?.cancel() }
        for path in ["x", "y"] { #expect(harness.load("http://a.example/\(path)").source == .cache) }
    }

    @Test("removes nothing after its load was cancelled before its head arrived")
    func late() throws {
        let harness = harness()
        harness.transport.hold()
        let load = harness.load { $0.httpMethod = "POST" }
        let transfer = try #require(harness.transport.held.first)
        let late = try #require(transfer.late)
        load.fetch?.cancel()
        late(.response(ResponseHead(url: try #require(harness.request().url), status: 200, fields: HTTPFields())))
        harness.transport.hold(false)
        #expect(harness.load().source == .cache)
    }

    @Test(
        "removes the entries in native mode, too, if its body does not arrive, or is too large",
        arguments: Ending.allCases)
    func native(ending: Ending) throws {
        let harness = NativeHarness(FakeReply(200, NativeFetchTests.lifetime, "old"))
        let urls = try ["x", "y"].map { try #require(URL(string: "http://a.example/\($0)")) }
        for url in urls { harness.load { $0.url = url } }
        harness.serve { _ in Self.reply(ending) }
        let events = Events()
        events.fetch = harness.fetcher.fetch(
            harness.request { $0.httpMethod = "POST" }, options: FetchOptions(maximumBodySize: Self.limit)
        ) { events.note($0) }
        events.fetch?.proceed()
        #expect(events.error != nil)
        harness.serve { _ in FakeReply(200, NativeFetchTests.lifetime, "new") }
        for url in urls { #expect(harness.load { $0.url = url }.body == "new") }
    }

    @Test(
        "that is a redirect removes the entries in native mode, whatever the redirect leads to", arguments: [200, 404])
    func nativeRedirect(status: Int) throws {
        let harness = NativeHarness(FakeReply(200, NativeFetchTests.lifetime, "old"))
        let urls = try ["x", "y"].map { try #require(URL(string: "http://a.example/\($0)")) }
        for url in urls { harness.load { $0.url = url } }
        harness.serve { $0.httpMethod == "POST" ? FakeReply(303, ["Location": "/y"]) : FakeReply(status, [:], "seen") }
        let load = harness.load { $0.httpMethod = "POST" }
        #expect(load.all.filter { if case .invalidated = $0 { true } else { false } }.count == 1)
        harness.finishRemovals()
        harness.serve { _ in FakeReply(200, NativeFetchTests.lifetime, "new") }
        for url in urls { #expect(harness.load { $0.url = url }.body == "new") }
    }
}
