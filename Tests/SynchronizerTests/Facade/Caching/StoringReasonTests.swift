import Foundation
import HTTPCaching
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Why nothing was found: what the next load's trace says", .bounded)
struct StoringReasonTests {
    private static let lifetime: KeyValuePairs = ["Cache-Control": "max-age=100"]
    private static let invalidated = "; the last response was not stored: it was invalidated"
    private static let undecodable = "; the last response was not stored: it could not be parsed"

    private let bench: Workbench
    private let url: URL

    init() throws {
        bench = try Workbench()
        url = bench.server.url("/a")
        bench.server["/a"] = Reply("1", fields: Self.lifetime)
    }

    private func query(_ name: String, method: String = "POST", at url: URL? = nil) throws -> JSONResource<Int> {
        try JSONResource<Int>(url: url ?? self.url, method: method, body: name, cacheKey: CacheKey(name))
    }

    /// The reason in the trace of a load, which may fail.
    private func reason(_ resource: some Resource, _ synchronizer: Synchronizer) async -> String {
        do {
            return try await synchronizer.loaded(resource).trace.reason
        } catch {
            return (error as? SynchronizerError)?.context.trace.reason ?? "\(error)"
        }
    }

    @Test("a request that no stored response may answer: the reason names the header")
    func request() async throws {
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(DataResource(url: url))
        let noStore = DataResource(url: url, headers: ["Cache-Control": "no-store"])
        #expect(await reason(noStore, synchronizer).hasPrefix("the request says no-store"))
        let conditions = "the request has If-Match or If-Unmodified-Since, which only the server can judge"
        let tagged = DataResource(url: url, headers: ["If-Match": "\"1\""])
        #expect(await reason(tagged, synchronizer).hasPrefix(conditions))
    }

    @Test("if something is stored for another body, the reason is that of the own one", arguments: ["POST", "QUERY"])
    func otherBody(method: String) async throws {
        let synchronizer = bench.synchronizer()
        bench.server.enqueue(Reply("1", fields: Self.lifetime), for: "/a")
        bench.server["/a"] = Reply("2", fields: ["Cache-Control": "no-store"])
        _ = try await synchronizer.load(query("one", method: method))
        let other = "the stored responses are for other request fields"
        #expect(try await reason(query("two", method: method), synchronizer) == other)
        let second = try await reason(query("two", method: method), synchronizer)
        #expect(second == other + "; the last response was not stored: the response says no-store")
    }

    @Test("a body that could not be parsed is that of one query; responses to others at its URL stay")
    func undecodable() async throws {
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(query("good"))
        bench.server["/a"] = Reply("no JSON", fields: Self.lifetime)
        _ = try await reason(query("bad"), synchronizer)
        bench.server["/a"] = Reply("1", fields: Self.lifetime)
        let other = "the stored responses are for other request fields"
        #expect(try await reason(query("bad"), synchronizer) == other + Self.undecodable)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(query("good")).source == .cache)
        #expect(
            await reason(DataResource(url: url), synchronizer) == "the stored responses are for other request fields")
    }

    @Test("a body that could not be parsed does not hide that it was not stored")
    func unstored() async throws {
        let synchronizer = bench.synchronizer()
        bench.server["/a"] = Reply("no JSON", fields: ["Cache-Control": "no-store"])
        let first = await reason(JSONResource<Int>(url: url), synchronizer)
        #expect(first == "nothing is stored")
        let second = await reason(JSONResource<Int>(url: url), synchronizer)
        #expect(second == first + "; the last response was not stored: the response says no-store")
    }

    @Test("a body that could not be parsed, and was not stored, leaves a GET of its URL stored")
    func unstoredQuery() async throws {
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(DataResource(url: url))
        bench.server["/a"] = Reply("no JSON", fields: ["Cache-Control": "no-store"])
        _ = try await reason(query("one"), synchronizer)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(DataResource(url: url)).source == .cache)
    }

    @Test("a body that could not be parsed after a redirect is that of the last request", arguments: [303, 307])
    func redirected(status: Int) async throws {
        let synchronizer = bench.synchronizer()
        bench.server["/moved"] = .redirect(to: "/a", status: status)
        bench.server["/a"] = Reply("no JSON", fields: Self.lifetime)
        _ = try await reason(query("one", at: bench.server.url("/moved")), synchronizer)
        bench.server["/a"] = Reply("1", fields: Self.lifetime)
        let get = await reason(DataResource(url: url), synchronizer)
        #expect(get == "nothing is stored" + (status == 303 ? Self.undecodable : ""))
        bench.server["/a"] = Reply("1", fields: ["Cache-Control": "no-store"])
        #expect(try await reason(query("one"), synchronizer).hasSuffix(Self.undecodable) == (status == 307))
    }

    @Test("invalidate(_:) says so for all that was stored at the URL, and for nothing else")
    func invalidating() async throws {
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(query("one"))
        synchronizer.invalidate(try query("one"))
        #expect(await reason(DataResource(url: url), synchronizer) == "nothing is stored", "it was never loaded")
        synchronizer.invalidate(DataResource(url: url))
        #expect(try await reason(query("one"), synchronizer) == "nothing is stored" + Self.invalidated)
        #expect(await reason(DataResource(url: url), synchronizer).hasSuffix(Self.invalidated))
    }

    @Test(
        "an unsafe method says so for all that was stored at the URL, also by an earlier launch",
        arguments: [false, true])
    func unsafe(isNextLaunch: Bool) async throws {
        let cache = bench.cache()
        var synchronizer = bench.synchronizer(cache: cache)
        _ = try await synchronizer.load(DataResource(url: url))
        for name in ["one", "two"] { _ = try await synchronizer.load(query(name)) }
        if isNextLaunch { synchronizer = bench.synchronizer(cache: cache) }
        let deletion = EmptyResource(url: url, method: "DELETE")
        _ = try await synchronizer.load(deletion)
        bench.server["/a"] = Reply("1", fields: ["Cache-Control": "no-cache"])
        #expect(await reason(DataResource(url: url), synchronizer) == "nothing is stored" + Self.invalidated)
        for name in ["one", "two"] {
            #expect(try await reason(query(name), synchronizer).hasSuffix(Self.invalidated))
        }
        #expect(try await reason(query("three"), synchronizer) == "the stored responses are for other request fields")
        let again = await reason(deletion, synchronizer)
        #expect(again.hasSuffix("; the last response was not stored: responses to this method are not stored"))
    }

    @Test("an unsafe method also replaces an earlier reason, because memory may have had the object")
    func unsafeInMemory() async throws {
        let synchronizer = bench.synchronizer { $0.urlCache = nil }
        for _ in 1...2 { _ = try await synchronizer.load(DataResource(url: url)) }
        #expect(bench.server.counts.requests == 1)
        _ = try await synchronizer.load(EmptyResource(url: url, method: "DELETE"))
        #expect(await reason(DataResource(url: url), synchronizer) == "nothing is stored" + Self.invalidated)
    }

    @Test("a lookup knows the reason while the removal waits for the disk, and a later response has its own")
    func pending() {
        let (store, clock) = (FakeStore(), ManualClock())
        let cache = ManagedCache(store: store, time: clock, rules: CacheRules())
        let request = CacheRequest(url: "http://a.example/x")
        let head = StoredResponse(
            url: request.url, method: "GET", selectingFields: HTTPFields(), status: 200, fields: HTTPFields(),
            requestTime: clock.now, responseTime: clock.now)
        let content = CachedURLResponse(
            response: ResponseHead(url: url, status: 200, fields: HTTPFields()).urlResponse, data: Data())
        _ = cache.store(head, content: content)
        cache.removing.suspend()
        cache.removeSoon([request.url])
        #expect(cache.lookUp(request).isEmpty && cache.reasons.reason(for: request) == .invalidated)
        cache.reasons.note(.notStored(.noStore), for: request)
        cache.removing.resume()
        cache.removing.sync {}
        #expect(store.all.isEmpty && cache.reasons.reason(for: request) == .noStore)
    }

    @Test("a thousand requests are remembered, also of removals")
    func bound() {
        let reasons = StoringReasons()
        let requests = (0..<1_500).map { CacheRequest(url: "http://a.example/\($0)") }
        for (number, request) in requests.enumerated() {
            if number % 2 == 0 {
                reasons.note(.notStored(.noStore), for: request)
            } else {
                reasons.noteRemoval(of: .init(request), because: .invalidated)
            }
        }
        reasons.noteInvalidation(of: requests.map(\.url))
        #expect(requests.map { reasons.reason(for: $0) } == (0..<1_500).map { $0 < 500 ? nil : .invalidated })
    }

    @Test("native mode: an unsafe method or an unparsable body says so, if something was stored")
    func native() {
        let harness = NativeHarness(FakeReply(200, NativeFetchTests.lifetime, "a"))
        let answered = "URLSession answered"
        let reason = { harness.load().fetched?.trace.reason }
        harness.load { $0.httpMethod = "DELETE" }
        harness.finishRemovals()
        #expect(reason() == answered, "it was never loaded")
        harness.load { $0.httpMethod = "DELETE" }
        harness.finishRemovals()
        #expect(reason() == answered + Self.invalidated)
        harness.fetcher.removeStoredSoon(for: [harness.request()])
        harness.finishRemovals()
        #expect(reason() == answered + Self.invalidated)
        harness.fetcher.removeStored(for: harness.request(), body: nil)
        harness.serve { _ in FakeReply(200, ["Cache-Control": "no-store"], "a") }
        harness.session.bypassesDelegate.withLock { $0 = true }
        #expect(reason() == answered + Self.undecodable)
        harness.fetcher.removeStored(for: harness.request(), body: nil)
        #expect(reason() == answered + "; the last response was not stored: the response says no-store")
    }

    @Test("native mode: a lookup knows the reason while the cache has not removed the response yet")
    func nativePending() {
        let harness = NativeHarness(FakeReply(200, NativeFetchTests.lifetime, "a"))
        harness.load()
        harness.fetcher.cache.removing.suspend()
        harness.fetcher.removeStoredSoon(for: [harness.request()])
        let trace = harness.start { $0.cachePolicy = .returnCacheDataDontLoad }.error?.context.trace
        #expect(trace?.reason.hasSuffix(Self.invalidated) == true)
        harness.fetcher.cache.removing.resume()
        harness.finishRemovals()
    }
}
