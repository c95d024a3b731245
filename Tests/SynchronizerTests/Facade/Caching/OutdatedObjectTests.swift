import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// RFC 9111 §4: a cache must use the most recent response.
@Suite("An object in memory that is older than a response from the network", .bounded)
struct OutdatedObjectTests {
    private let bench: Workbench
    private let url: URL

    init() throws {
        bench = try Workbench()
        url = bench.server.url("/a")
        bench.server["/a"] = Self.reply("old")
    }

    private static func reply(_ body: String, status: Int = 200, tag: String = "1") -> Reply {
        Reply(body, status: status, fields: ["Cache-Control": "max-age=100", "ETag": "\"\(tag)\""])
    }

    private func resource(_ change: (inout URLRequest) -> Void = { _ in }) -> DataResource {
        var request = URLRequest(url: url)
        change(&request)
        return DataResource(request: request)
    }

    /// What comes from memory and the cache after a load, by another request, of the newer response.
    private func body(
        after reply: Reply, to change: (inout URLRequest) -> Void, cache: Bool = true
    ) async throws -> String? {
        let synchronizer = bench.synchronizer { if !cache { $0.urlCache = nil } }
        _ = try await synchronizer.load(resource())
        bench.server["/a"] = reply
        _ = try? await synchronizer.load(resource(change))
        synchronizer.isOffline = true
        return try? String(decoding: await synchronizer.load(resource()), as: UTF8.self)
    }

    @Test("is forgotten if the newer response is an error", arguments: [404, 410, 403])
    func error(status: Int) async throws {
        let body = try await body(after: Self.reply("gone", status: status)) {
            $0.cachePolicy = .reloadIgnoringLocalCacheData
        }
        #expect(body == nil)
    }

    @Test("stays if the error is not about the resource", arguments: [401, 429, 503])
    func otherError(status: Int) async throws {
        let body = try await body(after: Reply(status: status)) { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        #expect(body == "old")
    }

    @Test("is forgotten if the request had other headers, unless they select the response")
    func headers() async throws {
        for name in ["Cache-Control", "X-Client"] {
            let body = try await body(after: Self.reply("new", tag: "2")) { request in
                request.cachePolicy = .reloadIgnoringLocalCacheData
                request.setValue("no-cache", forHTTPHeaderField: name)
            }
            #expect(body == "new", "\(name)")
            bench.server["/a"] = Self.reply("old")
        }
        let varying = Reply("new", fields: ["Cache-Control": "max-age=100", "Vary": "X-Client"])
        let body = try await body(
            after: varying, to: { $0.setValue("1", forHTTPHeaderField: "X-Client") }, cache: false)
        #expect(body == "old")
        bench.server["/a"] = Self.reply("old")
        let other = try await self.body(
            after: Self.reply("new", tag: "2"), to: { $0.setValue("Bearer 1", forHTTPHeaderField: "Authorization") },
            cache: false)
        #expect(other == "old")
    }

    @Test("is forgotten if the newer response was loaded as another resource")
    func type() async throws {
        let synchronizer = bench.synchronizer()
        #expect(try await synchronizer.load(resource()) == Data("old".utf8))
        bench.server["/a"] = Self.reply("new", tag: "2")
        let file = bench.directory.appendingPathComponent("file-\(UUID())")
        var request = URLRequest(url: url)
        request.cachePolicy = .reloadIgnoringLocalCacheData
        _ = try await synchronizer.load(FileResource(request: request, to: file))
        #expect(try await synchronizer.load(resource()) == Data("new".utf8))
        #expect(bench.server.requests.count == 2)
    }

    @Test("stays if the newer response has the same bytes, so that it is not parsed again")
    func sameBytes() async throws {
        let counted = LoadingTests.Counted(url: url, parses: Locked(0))
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(counted)
        _ = try await synchronizer.load(resource { $0.cachePolicy = .reloadIgnoringLocalCacheData })
        _ = try await synchronizer.load(counted)
        #expect(bench.server.requests.count == 2)
        #expect(counted.parses.withLock { $0 } == 1)
    }

    @Test("is forgotten if a HEAD shows that the representation has changed (§4.3.5)", arguments: [false, true])
    func head(forbidsStoring: Bool) async throws {
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(resource())
        bench.server["/a"] = Reply(
            "new", fields: forbidsStoring ? ["Cache-Control": "no-store", "ETag": "\"1\""] : ["ETag": "\"2\""])
        var request = URLRequest(url: url)
        request.httpMethod = "HEAD"
        request.setValue("no-cache", forHTTPHeaderField: "Cache-Control")
        _ = try await synchronizer.load(EmptyResource(request: request))
        #expect(synchronizer.cachedObject(for: resource()) == nil)
        bench.server["/a"] = Self.reply("new", tag: "2")
        #expect(try await synchronizer.load(resource()) == Data("new".utf8))
    }

    @Test("gives a response with its current age, without fields of the connection (§4, §3.1)")
    func response() async throws {
        bench.server["/a"] = Reply(
            "a", fields: ["Cache-Control": "max-age=100", "Age": "20", "Connection": "X-Hop", "X-Hop": "1", "A": "1"])
        let synchronizer = bench.synchronizer()
        let first = try await synchronizer.loaded(resource()).response as? HTTPURLResponse
        #expect(first?.value(forHTTPHeaderField: "Age") == "20" && first?.value(forHTTPHeaderField: "X-Hop") == "1")
        bench.clock.advance(by: 10)
        let loaded = try await synchronizer.loaded(resource())
        let second = loaded.response as? HTTPURLResponse
        #expect(loaded.source == .memory)
        #expect(second?.value(forHTTPHeaderField: "Age") == "30" && second?.value(forHTTPHeaderField: "A") == "1")
        #expect(second?.value(forHTTPHeaderField: "X-Hop") == nil)
    }
}
