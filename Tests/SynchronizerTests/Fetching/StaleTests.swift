import Foundation
import HTTPCaching
import Synchronizer
import TestSupport
import TestTraits
import Testing

@Suite("A stale response", .bounded)
struct StaleTests {
    @Test("is used if the server can't be reached, and the trace says so")
    func offline() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in .failure(.notConnectedToInternet) }
        let events = harness.load()
        #expect(events.body == "hello" && events.source == .stale)
        #expect(events.field("Age") == "100")
        #expect(events.fetched?.freshUntil == .distantPast)
        #expect(
            events.fetched?.trace.reason
                == "stale: age 100 s of 60 s (max-age), allowed while the server is unreachable")
    }

    @Test("has the age that it has when the request fails, not when it was sent (RFC 9111 §5.1)")
    func ageAfterTimeout() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.serve { [clock = harness.clock] _ in
            clock.advance(by: 60)
            return .failure(.timedOut)
        }
        let events = harness.load()
        #expect(events.field("Age") == "160")
        #expect(events.fetched?.trace.age == 160)
    }

    @Test("is stale if it has expired when the request fails")
    func expiredMeanwhile() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.transport.serve { [clock = harness.clock] _ in
            clock.advance(by: 70)
            return .failure(.timedOut)
        }
        let events = harness.load { $0.setValue("min-fresh=61", forHTTPHeaderField: "Cache-Control") }
        #expect(events.source == .stale)
    }

    /// What the URL begins with, how the connection fails, whether what is stale may serve.
    static let failures: [(String, URLError.Code, Bool)] =
        [
            ("https", .notConnectedToInternet, true), ("https", .cannotFindHost, true), ("https", .timedOut, true),
            ("https", .dnsLookupFailed, true), ("https", .cannotConnectToHost, true), ("https", .dataNotAllowed, true),
            ("https", .networkConnectionLost, true), ("https", .badServerResponse, false), ("http", .unknown, false),
            ("https", .badURL, false), ("https", .userAuthenticationRequired, false), ("https", .cancelled, false),
        ] + URLError.Code.tlsFailures.map { ("https", $0, false) }

    @Test("serves when the server is out of reach, and not when something is wrong with it", arguments: failures)
    func unreachable(scheme: String, code: URLError.Code, isServed: Bool) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load("\(scheme)://a.example/x")
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in .failure(code) }
        let events = harness.load("\(scheme)://a.example/x")
        #expect(events.source == (isServed ? .stale : nil))
        #expect(events.transportError == (isServed ? nil : code))
    }

    @Test(
        "serves when a body is cut short, even if the transport does not notice",
        arguments: [URLError.Code.networkConnectionLost, nil])
    func cutShort(code: URLError.Code?) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        let events = loadCutShort(harness, code: code, fields: ["Content-Length": "10"]) {}
        #expect(events.source == .stale && events.body == "hello")
    }

    /// Loads a response, and again when it is stale. Then the body is cut short, after `change` was called.
    private func loadCutShort(
        _ harness: FetchHarness, code: URLError.Code?, fields: [String: String],
        after change: @escaping @Sendable () -> Void
    ) -> Events {
        harness.load("https://a.example/x")
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in
            change()
            var reply = FakeReply(200, fields, "part")
            reply.error = code.map { URLError($0) }
            return reply
        }
        return harness.load("https://a.example/x")
    }

    @Test(
        "that is removed during the load makes no answer of a body that is cut short",
        arguments: [URLError.Code.networkConnectionLost, nil])
    func cutShortAndRemoved(code: URLError.Code?) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        let events = loadCutShort(harness, code: code, fields: ["Content-Length": "10", "Cache-Control": "max-age=60"])
        {
            harness.store.removeEntries(for: "https://a.example/x")
        }
        #expect(events.transportError == .networkConnectionLost)
        #expect(harness.store.entries(for: "https://a.example/x").isEmpty)
    }

    @Test(
        "does not serve where it must not be stale",
        arguments: ["max-age=60, must-revalidate", "max-age=60, no-cache", "max-age=60, stale-if-error=10"])
    func prohibited(control: String) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": control], "hello"))
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in .failure(.notConnectedToInternet) }
        #expect(harness.load().transportError == .notConnectedToInternet)
    }

    @Test("does not serve a request that is to be answered if the server confirms, however long it may be stale")
    func revalidating() {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60", "ETag": "\"1\""], "hello"))
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in .failure(.notConnectedToInternet) }
        #expect(
            harness.load { $0.cachePolicy = .reloadRevalidatingCacheData }.transportError == .notConnectedToInternet)
        #expect(harness.load().source == .stale, "it is still there for others")
    }

    @Test(
        "does not serve those who reload",
        arguments: URLRequest.CachePolicy.all.filter {
            ![.returnCacheDataElseLoad, .returnCacheDataDontLoad, .useProtocolCachePolicy].contains($0)
        })
    func reload(policy: URLRequest.CachePolicy) {
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": "max-age=60"], "hello"))
        harness.load()
        harness.transport.serve { _ in .failure(.timedOut) }
        #expect(harness.load { $0.cachePolicy = policy }.transportError == .timedOut)
    }

    @Test("serves in place of a 5xx where stale-if-error allows it, by the response or by the rules")
    func staleIfError() {
        var rules = CacheRules()
        for (control, window, isServed) in [
            ("max-age=60", 0.0, false), ("max-age=60, stale-if-error=50", 0, true),
            ("max-age=60, stale-if-error=30", 1000, false), ("max-age=60", 50, true),
        ] {
            rules.staleIfError = window
            let harness = FetchHarness(rules) { _ in FakeReply(200, ["Cache-Control": control], "hello") }
            harness.load()
            harness.clock.advance(by: 100)
            harness.transport.serve { _ in FakeReply(503, [:], "down") }
            let events = harness.load()
            #expect(events.source == (isServed ? .stale : nil), "\(control), rules \(window)")
            #expect(events.status == (isServed ? nil : 503))
        }
    }

    @Test("is validated once, even if its delivery starts a load that waits for the validation")
    func answerCausesLoad() {
        let fields = ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""]
        let harness = FetchHarness(FakeReply(200, fields, "old"))
        harness.load()
        harness.clock.advance(by: 100)
        let second = Events()
        let options = FetchOptions(maximumBodySize: 100)
        let fetch = harness.fetcher.fetch(harness.request(), options: options) { event in
            guard case .finished = event else { return }
            let waiting = FetchOptions(maximumBodySize: 100, awaitsRefresh: true)
            second.fetch = harness.fetcher.fetch(harness.request(), options: waiting) { second.note($0) }
            second.fetch?.proceed()
        }
        #expect(second.body == "old" && second.source != .stale)
        #expect(harness.transport.requests.count == 2)
        fetch.cancel()
    }

    @Test(
        "is validated for each request that waits: the response to another request may be for another user",
        arguments: [200, 304, 403])
    func validatedForAnother(status: Int) throws {
        let control = "max-age=60, stale-while-revalidate=1000"
        let harness = FetchHarness(FakeReply(200, ["Cache-Control": control, "ETag": "\"1\""], "all"))
        harness.load { $0.setValue("alice", forHTTPHeaderField: "X-Profile") }
        harness.clock.advance(by: 100)
        harness.transport.hold()
        let options = FetchOptions(maximumBodySize: 100, awaitsRefresh: true)
        let loads = ["alice", "bob"].map { user in
            let events = Events()
            let request = harness.request { $0.setValue(user, forHTTPHeaderField: "X-Profile") }
            events.fetch = harness.fetcher.fetch(request, options: options) { events.note($0) }
            events.fetch?.proceed()
            return events
        }
        #expect(harness.transport.held.count == 1, "one entry is validated once at a time")
        let fields = ["Cache-Control": control, "ETag": "\"1\"", "Vary": "X-Profile"]
        harness.transport.release(FakeReply(status, fields, "alice's"))
        #expect(loads.map(\.names) == [["needsNetwork", "finished"], ["needsNetwork"]])
        let user = harness.transport.requests.last?.value(forHTTPHeaderField: "X-Profile")
        #expect(user == "bob" && harness.transport.held.count == 1)
        harness.transport.release(FakeReply(200, fields, "bob's"))
        #expect(loads[1].body == "bob's")
    }

    @Test("is used while one background validation runs for all callers, even after they have cancelled")
    func staleWhileRevalidate() {
        let fields = ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"1\""]
        let harness = FetchHarness(FakeReply(200, fields, "old"))
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.hold()
        for _ in 1...3 {
            let events = harness.load()
            #expect(events.body == "old" && events.source == .stale)
            #expect(events.names == ["finished"])
            events.fetch?.cancel()
        }
        #expect(harness.transport.held.count == 1)
        #expect(harness.transport.requests.last?.value(forHTTPHeaderField: "If-None-Match") == "\"1\"")
        harness.transport.release(FakeReply(200, fields.merging(["ETag": "\"2\""]) { $1 }, "new"))
        #expect(harness.load().body == "new")
        #expect(harness.load().source == .cache)
    }

    @Test("is shown during its validation, unless the server must confirm it first")
    func meanwhile() {
        for (control, isShown) in [
            ("max-age=60", true), ("max-age=60, must-revalidate", false), ("no-cache", false),
        ] {
            let harness = FetchHarness(FakeReply(200, ["Cache-Control": control, "ETag": "\"1\""], "hello"))
            harness.load()
            harness.clock.advance(by: 100)
            harness.transport.hold()
            let events = harness.start(harness.request())
            for _ in 1...2 {
                let shown = events.fetch?.provisional()
                #expect(shown?.body == (isShown ? Data("hello".utf8) : nil), "\(control)")
                #expect(shown?.trace.source == (isShown ? .stale : nil))
                events.fetch?.proceed()
            }
            harness.transport.release(FakeReply(304, ["ETag": "\"1\""]))
            #expect(events.source == .revalidated)
            #expect(events.fetch?.provisional() == nil)
        }
    }
}
