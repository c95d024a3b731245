import Foundation
import HTTPCaching
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A request that is not well-formed", .bounded)
struct WellFormedTests {
    static let breaks = ["\r\n", "\r", "\n", "\0"]

    private func expectNothingSent(_ request: URLRequest, sourceLocation: SourceLocation = #_sourceLocation) {
        let managed = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        let native = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        managed.load()
        native.load()
        for events in [managed.load(request), native.load { $0 = request }] {
            guard case .invalidRequest? = events.error else {
                Issue.record("\(String(describing: events.result))", sourceLocation: sourceLocation)
                continue
            }
        }
        #expect(managed.transport.requests.count == 1, sourceLocation: sourceLocation)
        #expect(native.session.asked.count == 1, sourceLocation: sourceLocation)
    }

    @Test("by a field that would end its line is an error before anything is sent", arguments: breaks)
    func fields(lineBreak: String) {
        for (name, value) in [
            ("X-A", "a\(lineBreak)X-Injected: b"), ("X-A", "a\(lineBreak)"), ("X-A\(lineBreak)X-B", "a"),
        ] {
            // On Linux `setValue` leaves such a value out.
            expectNothingSent(FetchHarness().request { $0.allHTTPHeaderFields = [name: value] })
        }
    }

    @Test("by its method is one, too", arguments: breaks + [" ", "\t"])
    func method(lineBreak: String) {
        expectNothingSent(FetchHarness().request { $0.httpMethod = "GET\(lineBreak)X" })
    }

    @Test("by a field of the session's configuration is one, too", arguments: ["X-App", "X-Api-Key"])
    func session(name: String) async throws {
        let bench = try Workbench()
        bench.server["/a"] = Reply("hello")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = [name: "a\r\nX-Injected: b"]
        let synchronizer = bench.synchronizer { $0.sessionConfiguration = configuration }
        let error = await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(DataResource(url: bench.server.url("/a")))
        }
        guard case .invalidRequest(let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.url == bench.server.url("/a"))
        #expect(error?.description.hasSuffix("a character that is not allowed there") == true)
        #expect(bench.server.counts.requests == 0)
    }

    @Test("gives a cache its facts")
    func cacheRequest() {
        #expect(CacheRequest(url: "http://a.example/x", fields: HTTPFields(["A": "b c\t\u{e9}"])).isWellFormed)
        #expect(!CacheRequest(url: "http://a.example/x y").isWellFormed)
        #expect(!CacheRequest(url: "http://a.example/x\r\nA:").isWellFormed)
        #expect(!CacheRequest(url: "http://a.example/x", method: "").isWellFormed)
        #expect(!CacheRequest(url: "http://a.example/x", sessionHeaders: HTTPFields(["A": "\n"])).isWellFormed)
    }
}
