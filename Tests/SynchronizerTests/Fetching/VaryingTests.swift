import Foundation
import HTTPCaching
import ScriptedServer
import Synchronizer
import TestSupport
import TestTraits
import Testing

/// A stored response that comes to be selected by more request fields than before (RFC 9111 §4.1, §4.3.4).
@Suite("A Vary in a later response", .bounded)
struct VaryingTests {
    static let stored = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    static let varying = ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Vary": "X-Profile"]

    static func profile(_ name: String?) -> (inout URLRequest) -> Void {
        { $0.setValue(name, forHTTPHeaderField: "X-Profile") }
    }

    /// Says 304 to conditions, and else whose profile was asked for.
    static func server(_ fields: [String: String]) -> FakeTransport.Server {
        { request in
            let isConditional = request.value(forHTTPHeaderField: "If-None-Match") != nil
            let profile = request.value(forHTTPHeaderField: "X-Profile") ?? "nobody"
            return isConditional ? FakeReply(304, fields) : FakeReply(200, fields, profile)
        }
    }

    /// Alice's answer is stored, without `Vary`, and stale.
    static func harness() -> FetchHarness {
        let harness = FetchHarness(CacheRules(), server(stored))
        harness.load("http://a.example/x", profile("alice"))
        harness.clock.advance(by: 100)
        return harness
    }

    /// Only alice may get the stored response, online or not.
    func expectHers(_ harness: FetchHarness, isKept: Bool) {
        harness.transport.serve { _ in .failure(.notConnectedToInternet) }
        for age in [1.0, 100] {
            harness.clock.advance(by: age)
            #expect(harness.load("http://a.example/x", Self.profile(nil)).body == nil)
            #expect(harness.load("http://a.example/x", Self.profile("bob")).body == nil)
            #expect(harness.load("http://a.example/x", Self.profile("alice")).body == (isKept ? "alice" : nil))
        }
    }

    @Test("with a 304 binds the stored response to the request that was confirmed")
    func confirmed() {
        let harness = Self.harness()
        harness.transport.serve(Self.server(Self.varying))
        #expect(harness.load("http://a.example/x", Self.profile("alice")).source == .revalidated)
        expectHers(harness, isKept: true)
    }

    @Test("with a 304 to another's request binds it to that")
    func confirmedForAnother() {
        let harness = Self.harness()
        harness.transport.serve(Self.server(Self.varying))
        #expect(harness.load("http://a.example/x", Self.profile("bob")).source == .revalidated)
        #expect(harness.load("http://a.example/x", Self.profile("bob")).source == .cache)
        #expect(harness.load("http://a.example/x", Self.profile("alice")).source == .network)
        #expect(harness.load("http://a.example/x", Self.profile(nil)).body == "nobody")
    }

    @Test("that names more fields counts like a new one")
    func moreFields() {
        let harness = FetchHarness(CacheRules(), Self.server(["Vary": "Accept"].merging(Self.stored) { $1 }))
        harness.load("http://a.example/x", Self.profile("alice"))
        harness.clock.advance(by: 100)
        harness.transport.serve(Self.server(Self.varying.merging(["Vary": "Accept, X-Profile"]) { $1 }))
        #expect(harness.load("http://a.example/x", Self.profile("alice")).source == .revalidated)
        expectHers(harness, isKept: true)
    }

    @Test("that is the same, or names fewer fields, changes nothing", arguments: ["X-Profile, Accept", "x-profile"])
    func sameFields(vary: String) {
        let harness = FetchHarness(CacheRules(), Self.server(Self.stored.merging(["Vary": "Accept, X-Profile"]) { $1 }))
        harness.load("http://a.example/x", Self.profile("alice"))
        let selecting = harness.store.all.map(\.selectingFields)
        harness.clock.advance(by: 100)
        harness.transport.serve(Self.server(Self.stored.merging(["Vary": vary]) { $1 }))
        #expect(harness.load("http://a.example/x", Self.profile("alice")).source == .revalidated)
        #expect(harness.store.all.map(\.selectingFields) == selecting)
        expectHers(harness, isKept: true)
    }

    @Test("that the session's delegate puts in counts, too")
    func delegated() {
        let harness = Self.harness()
        harness.transport.serve(Self.server(Self.stored))
        harness.transport.decide { proposed in
            let head = ResponseHead(
                url: proposed.response.url ?? URL(fileURLWithPath: "/"), status: 200, fields: HTTPFields(Self.varying))
            return CachedURLResponse(response: head.urlResponse, data: proposed.data)
        }
        #expect(harness.load("http://a.example/x", Self.profile("alice")).source == .revalidated)
        #expect(harness.store.all.count == 1)
        expectHers(harness, isKept: true)
    }

    @Test("with a body that the session's delegate replaces leaves nothing behind")
    func replacedBody() {
        let harness = Self.harness()
        harness.transport.serve(Self.server(Self.varying))
        harness.transport.decide { CachedURLResponse(response: $0.response, data: Data("other".utf8)) }
        harness.load("http://a.example/x", Self.profile("alice"))
        #expect(harness.store.bodies == ["other"])
    }

    @Test("in the response to a HEAD removes the entry, because it is unknown whose it is")
    func head() {
        let harness = Self.harness()
        harness.transport.serve { _ in FakeReply(200, Self.varying) }
        harness.load {
            $0.httpMethod = "HEAD"
            $0.setValue("bob", forHTTPHeaderField: "X-Profile")
        }
        expectHers(harness, isKept: false)
    }

    @Test("in a 304 to a caller's own condition removes the entry")
    func condition() {
        let harness = Self.harness()
        harness.transport.serve(Self.server(Self.varying))
        harness.load {
            $0.setValue("\"1\"", forHTTPHeaderField: "If-None-Match")
            $0.setValue("bob", forHTTPHeaderField: "X-Profile")
        }
        expectHers(harness, isKept: false)
    }

    @Test("with a 304 drops others of the same tag, whose requests are not known")
    func others() {
        func asking(_ name: String) -> (inout URLRequest) -> Void {
            {
                $0.setValue(name, forHTTPHeaderField: "Accept")
                $0.setValue(name, forHTTPHeaderField: "X-Profile")
            }
        }
        let harness = FetchHarness(CacheRules(), Self.server(Self.stored.merging(["Vary": "Accept"]) { $1 }))
        harness.load("http://a.example/x", asking("alice"))
        harness.transport.serve(Self.server(Self.stored))
        harness.load("http://a.example/x", asking("bob"))
        #expect(harness.store.bodies == ["bob", "alice"])
        harness.clock.advance(by: 100)
        harness.transport.serve(Self.server(Self.varying))
        #expect(harness.load("http://a.example/x", asking("alice")).source == .revalidated)
        #expect(harness.store.bodies == ["alice"])
        expectHers(harness, isKept: true)
    }

    @Test("in a new response removes the old one")
    func replaced() {
        let harness = Self.harness()
        harness.transport.serve { _ in FakeReply(200, Self.varying, "alice") }
        #expect(harness.load("http://a.example/x", Self.profile("alice")).source == .network)
        #expect(harness.store.all.count == 1)
        expectHers(harness, isKept: true)
    }

    @Test("with the rest of a part binds the whole to the request for the rest")
    func completed() {
        let harness = FetchHarness(
            FakeReply(206, Self.stored.merging(["Content-Range": "bytes 0-1/5"]) { $1 }, "al"))
        harness.load {
            $0.setValue("bytes=0-1", forHTTPHeaderField: "Range")
            $0.setValue("alice", forHTTPHeaderField: "X-Profile")
        }
        harness.transport.serve { _ in
            FakeReply(206, Self.varying.merging(["Content-Range": "bytes 2-4/5"]) { $1 }, "ice")
        }
        #expect(harness.load("http://a.example/x", Self.profile("alice")).body == "alice")
        expectHers(harness, isKept: true)
    }

    @Test("a 304 that makes a response private binds it to the cookies of its request")
    func becomesPrivate() {
        let harness = FetchHarness(FakeReply(200, Self.stored, "one"))
        harness.transport.imply(["Cookie": "user=one"])
        harness.load()
        harness.clock.advance(by: 100)
        harness.transport.serve { _ in FakeReply(304, ["Cache-Control": "private, max-age=60"]) }
        #expect(harness.load().source == .revalidated)
        #expect(harness.load().source == .cache)
        harness.transport.imply(["Cookie": "user=two"])
        harness.transport.serve { _ in FakeReply(200, Self.stored, "two") }
        #expect(harness.load().body == "two")
    }

    @Test("is kept on the disk, too")
    func stored() async throws {
        let bench = try Workbench()
        bench.server.handle("/a") { request in
            let isConditional = request["If-None-Match"] != nil
            let fields: KeyValuePairs =
                isConditional
                ? ["Cache-Control": "max-age=60", "Vary": "X-Profile"]
                : ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            return Reply(
                isConditional ? "" : request["X-Profile"] ?? "nobody", status: isConditional ? 304 : 200, fields: fields
            )
        }
        func load(_ profile: String?) async throws -> Loaded<Data> {
            var request = URLRequest(url: bench.server.url("/a"))
            request.setValue(profile, forHTTPHeaderField: "X-Profile")
            return try await bench.synchronizer().loaded(DataResource(request: request))
        }
        _ = try await load("alice")
        bench.clock.advance(by: 100)
        #expect(try await load("alice").source == .revalidated)
        #expect(try await load(nil).object == Data("nobody".utf8))
        let again = try await load("alice")
        #expect(again.source == .cache && again.object == Data("alice".utf8))
    }

    @Test("is found out where URLSession stores by itself, too", arguments: ["alice", nil])
    func native(profile: String?) {
        let harness = NativeHarness(Self.server(Self.stored))
        harness.load(Self.profile("alice"))
        harness.clock.advance(by: 100)
        harness.serve(Self.server(Self.varying))
        #expect(harness.load(Self.profile(profile)).body == profile ?? "nobody")
        #expect(harness.load(Self.profile(nil)).body == "nobody")
        #expect(harness.load(Self.profile("alice")).body == "alice")
    }
}

@Suite("Cookies that change while a request waits", .bounded)
struct ChangingCookieTests {
    private let harness = FetchHarness { request in
        FakeReply(200, ["Cache-Control": "private, max-age=60", "ETag": "\"1\""], "one")
    }

    /// Stores a response for user one, and lets it become stale.
    init() {
        harness.transport.imply(["Cookie": "user=one"])
        harness.load()
        harness.clock.advance(by: 100)
    }

    @Test("are used for its lookup, and for storing its response")
    func waiting() {
        let events = harness.start(harness.request())
        #expect(events.names == ["needsNetwork"])
        harness.transport.imply(["Cookie": "user=two"])
        harness.transport.serve { request in
            let isConditional = request.value(forHTTPHeaderField: "If-None-Match") != nil
            return isConditional
                ? FakeReply(304) : FakeReply(200, ["Cache-Control": "private, max-age=60", "ETag": "\"2\""], "two")
        }
        events.fetch?.proceed()
        #expect(events.body == "two", "not validated by what user one has")
        #expect(harness.load().body == "two")
        harness.transport.imply(["Cookie": "user=one"])
        harness.transport.serve { _ in .failure(.notConnectedToInternet) }
        #expect(harness.load().body == "one")
    }

    @Test("because of a 304 that fits nothing stored are used for storing the response to the next request")
    func sentAgain() {
        let transport = harness.transport
        transport.serve { request in
            guard request.value(forHTTPHeaderField: "If-None-Match") != nil else {
                return FakeReply(200, ["Cache-Control": "private, max-age=60"], "two")
            }
            transport.imply(["Cookie": "user=two"])
            return FakeReply(304, ["ETag": "\"2\""])
        }
        #expect(harness.load().body == "two")
        #expect(transport.requests.count == 3)
        transport.serve { _ in .failure(.notConnectedToInternet) }
        #expect(harness.load().body == "two")
        transport.imply(["Cookie": "user=one"])
        #expect(harness.load().body == "one")
    }
}
