import Foundation
import Headlines
import Synchronizer
import SynchronizerTesting
import Testing

@MainActor
struct HeadlinesTests {
    private let url: URL
    private let body = #"[{"title": "Rain", "isBreaking": false}, {"title": "Sun", "isBreaking": true}]"#

    init() throws {
        url = try #require(URL(string: "https://example.com/stories"))
    }

    @Test func breakingNewsComeFirst() async throws {
        let headlines = Headlines(url: url, synchronizer: .stub { [body] _ in Reply(body) })
        #expect(try await headlines.titles() == ["Sun", "Rain"])
    }

    @Test func storedNewsAreShownOffline() async throws {
        let (clock, tries) = (ManualClock(), Tries())
        let server = StubServer { [body] _ in
            if await tries.next() > 1 { throw URLError(.notConnectedToInternet) }
            return Reply(body, fields: ["Cache-Control": "max-age=60"])
        }
        let headlines = Headlines(url: url, synchronizer: server.synchronizer(.test(time: clock)))
        _ = try await headlines.titles()
        clock.advance(by: 3600)
        #expect(try await headlines.titles() == ["Sun", "Rain"])
        #expect(server.requests.count == 2)
    }

    @Test func twoCallersShareOneRequest() async throws {
        let gate = Gate()
        let server = StubServer { [body] _ in Reply(body).waiting(for: gate) }
        let headlines = Headlines(url: url, synchronizer: server.synchronizer())
        let callers = (0..<2).map { _ in Task { try await headlines.titles() } }
        // The main actor runs both callers up to their load before it goes on here.
        try await gate.waitForArrivals()
        gate.open()
        for caller in callers { #expect(try await caller.value == ["Sun", "Rain"]) }
        #expect(server.requests.count == 1)
    }

    private actor Tries {
        private var count = 0

        func next() -> Int {
            count += 1
            return count
        }
    }
}
