import Foundation
import Synchronizer
import TestTraits
import Testing

/// As an app's tests do it: without `@testable`.
@Suite("Results that a test makes itself", .bounded)
struct ResultTests {
    private let url = URL(string: "https://example.com/a") ?? URL(fileURLWithPath: "/")

    @Test("have the values with which they were made")
    func values() {
        let head = ResponseHead(url: url, status: 201, fields: ["ETag": "\"1\""])
        #expect(head.url == url && head.status == 201 && head.value(of: "etag") == "\"1\"")
        #expect((head.urlResponse as? HTTPURLResponse)?.statusCode == 201)
        #expect(ResponseHead(url: url).status == 200)
        var trace = LoadTrace()
        trace.source = .cache
        let loaded = Loaded(object: 1, head: head, trace: trace)
        #expect(loaded.object == 1 && loaded.source == .cache && loaded.response.url == url)
        #expect(Loaded(object: 1, head: head).source == .network)
        let update = ResourceUpdate(phase: .stored(age: 5), loaded: loaded)
        #expect(update.object == 1 && update.phase == .stored(age: 5))
    }

    @Test("say how far a load or a prefetch has got")
    func progress() {
        #expect(LoadProgress(received: 5, expected: 10).fraction == 0.5)
        #expect(LoadProgress(sent: 1, expectedToSend: 2, received: 0).expectedToSend == 2)
        #expect(PrefetchProgress(finished: 1, total: 4).fraction == 0.25)
    }
}
