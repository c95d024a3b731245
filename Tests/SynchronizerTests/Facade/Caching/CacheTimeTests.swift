import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The cache time of a resource", .bounded)
struct CacheTimeTests {
    private struct Timed: Resource {
        let url: URL
        var cacheTime: TimeInterval?
        func request() -> URLRequest { URLRequest(url: url) }
        var parse: @Sendable (Data) throws -> Data { { $0 } }
    }

    /// Counts what it is asked about, and decides as the superclass does.
    private final class Watching: SessionDelegate, @unchecked Sendable {  // its own state is Locked
        let proposals = Locked(0)

        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            proposals.withLock { $0 += 1 }
            super.urlSession(
                session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
        }
    }

    let bench: Workbench

    init() throws {
        bench = try Workbench()
        bench.server["/a"] = Reply("a", fields: ["ETag": "\"1\""]).conditional()
    }

    @Test("is injected in place of that of the delegate, also by a subclass", arguments: [false, true])
    func injected(isWatched: Bool) async throws {
        let cache = bench.cache()
        let delegate = isWatched ? Watching(cacheTime: 10) : SessionDelegate(cacheTime: 10)
        let synchronizer = bench.synchronizer(cache: cache, delegate: delegate)
        let resource = Timed(url: bench.server.url("/a"), cacheTime: 1_000)
        _ = try await synchronizer.load(resource)
        for inMemory in [true, false] {
            bench.clock.advance(by: 400)
            if !inMemory { synchronizer.removeAllObjects() }
            #expect(try await synchronizer.loaded(resource).source == (inMemory ? .memory : .cache))
        }
        bench.clock.advance(by: 400)
        #expect(try await synchronizer.loaded(resource).source == .revalidated)
        bench.clock.advance(by: 900)
        #expect(try await synchronizer.loaded(resource).source == .memory, "the lifetime has begun again")
        #expect(bench.server.counts.requests == 2)
        let stored = cache.cachedResponse(for: resource.request())
        #expect(stored?.userInfo?[InjectionMark.cacheTimeKey] == nil)
        let others = Timed(url: bench.server.url("/a"))
        #expect(try await synchronizer.load(others) == Data("a".utf8))
    }

    @Test("of the configuration applies if neither the resource nor the delegate has one", arguments: [false, true])
    func configured(isWatched: Bool) async throws {
        let delegate = isWatched ? Watching() : SessionDelegate()
        #expect(try await lasts(resource(), for: 90, configured: 100, delegate: delegate))
        #expect(try await !lasts(resource(), for: 110, configured: 100, delegate: delegate))
        #expect(try await !lasts(resource(10), for: 90, configured: 100, delegate: delegate))
        let own = isWatched ? Watching(cacheTime: 10) : SessionDelegate(cacheTime: 10)
        #expect(try await !lasts(resource(), for: 90, configured: 100, delegate: own))
    }

    @Test("of the configuration can be set, and a delegate that is set later does not discard it")
    func setting() {
        var configuration = Synchronizer.Configuration(cacheTime: 100)
        configuration.sessionDelegate = Watching()
        #expect(configuration.cacheTime == 100 && configuration.defaultCacheTime == 100)
        configuration.cacheTime = 5
        #expect(configuration.defaultCacheTime == 5)
    }

    private func resource(_ cacheTime: TimeInterval? = nil) -> Timed {
        Timed(url: bench.server.url("/a"), cacheTime: cacheTime)
    }

    @Test("is a property of the resources that come with the package, as the size limit is")
    func settings() async throws {
        bench.server["/a"] = Reply("[1]", fields: ["ETag": "\"1\""])
        let url = bench.server.url("/a")
        var (data, json) = (DataResource(url: url), JSONResource<[Int]>(url: url))
        (data.cacheTime, json.cacheTime) = (100, 100)
        #expect(try await lasts(data, for: 90))
        #expect(try await lasts(json, for: 90))
        #expect(try await !lasts(data, for: 110))
        let unlimited = data
        (data.maximumSize, json.maximumSize) = (2, 2)
        #expect(unlimited.maximumSize == nil && data.cacheTime == 100)
        #expect(await isTooLarge(data))
        #expect(await isTooLarge(json))
    }

    @Test("is a property of files, too")
    func files() async throws {
        let folder = DisposableDirectory("files")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        var file = FileResource(url: bench.server.url("/a"), to: folder.url.appendingPathComponent("a"))
        #expect(try await !lasts(file, for: 90), "without a lifetime, the server is asked")
        file.cacheTime = 100
        #expect(try await lasts(file, for: 90))
        #expect(try await !lasts(file, for: 110))
    }

    /// Whether a second load after so many seconds sends no request.
    private func lasts(
        _ resource: some Resource, for seconds: TimeInterval, configured: TimeInterval? = nil,
        delegate: SessionDelegate? = nil
    ) async throws -> Bool {
        let cache = SQLiteURLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let synchronizer = bench.synchronizer(cacheTime: configured, cache: cache, delegate: delegate)
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: seconds)
        let before = bench.server.counts.requests
        _ = try await synchronizer.load(resource)
        return bench.server.counts.requests == before
    }

    private func isTooLarge(_ resource: some Resource) async -> Bool {
        do {
            _ = try await bench.synchronizer { $0.urlCache = nil }.load(resource)
            return false
        } catch {
            if case .tooLarge(limit: 2, _)? = error as? SynchronizerError { return true } else { return false }
        }
    }

    @Test("does not replace a lifetime of the server")
    func servers() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=5"])
        let synchronizer = bench.synchronizer()
        let resource = Timed(url: bench.server.url("/a"), cacheTime: 1_000)
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 10)
        #expect(try await synchronizer.loaded(resource).source == .network)
    }

    @Test("applies in native mode")
    func native() async throws {
        let harness = NativeHarness(cacheTime: 10, FakeReply(200, [:], "hello"))
        let synchronizer = harness.synchronizer()
        let url = try #require(harness.request().url)
        let resource = Timed(url: url, cacheTime: 1_000)
        _ = try await synchronizer.load(resource)
        harness.clock.advance(by: 900)
        synchronizer.removeAllObjects()
        #expect(try await synchronizer.loaded(resource).source == .cache)
        #expect(harness.session.asked.count == 1)
    }
}
