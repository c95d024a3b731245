import Foundation
import HTTPCaching
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Caching, from end to end", .bounded)
struct CachingTests {
    let bench: Workbench

    init() throws {
        bench = try Workbench()
    }

    func resource(_ target: String) -> DataResource { DataResource(url: bench.server.url(target)) }

    /// Loads and tells from where it came, with nothing kept in memory.
    func source(_ synchronizer: Synchronizer, _ target: String) async throws -> LoadSource {
        synchronizer.removeAllObjects()
        return try await synchronizer.loaded(resource(target)).source
    }

    @Test("with a cache time, a response without a lifetime is served until it has passed, and revalidated after")
    func injection() async throws {
        bench.server["/a"] = Reply("a", fields: ["ETag": "\"1\""]).conditional()
        let synchronizer = bench.synchronizer(cacheTime: 100)
        #expect(try await source(synchronizer, "/a") == .network)
        bench.clock.advance(by: 99)
        #expect(try await source(synchronizer, "/a") == .cache)
        #expect(try await synchronizer.load(resource("/a")) == Data("a".utf8))
        #expect(bench.server.counts.requests == 1)
        bench.clock.advance(by: 2)
        #expect(try await source(synchronizer, "/a") == .revalidated)
        #expect(bench.server.requests.last?["If-None-Match"] == "\"1\"")
        #expect(bench.server.counts.replies[304] == 1)
        bench.clock.advance(by: 99)
        #expect(try await source(synchronizer, "/a") == .cache)
        #expect(bench.server.counts.requests == 2)
    }

    @Test("another body is parsed anew, though its validators are the same", arguments: [nil, "1"])
    func sameValidators(date: String?) async throws {
        let moment = "Wed, 21 Oct 2015 07:28:00 GMT"
        let synchronizer = bench.synchronizer()
        for body in ["old", "new"] {
            let reply = Reply(body, fields: ["Cache-Control": "max-age=10000000000", "Last-Modified": moment])
            bench.server["/a"] = date == nil ? reply : reply.adding("Date", value: moment)
            let url = bench.server.url("/a")
            let request = URLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData)
            #expect(try await synchronizer.load(DataResource(request: request)) == Data(body.utf8))
            #expect(synchronizer.cachedObject(for: resource("/a")) == Data(body.utf8))
        }
    }

    @Test("without a cache time nothing is injected: a response without a lifetime is requested each time")
    func noInjection() async throws {
        bench.server["/a"] = Reply("a")
        let synchronizer = bench.synchronizer()
        for _ in 0..<3 { #expect(try await source(synchronizer, "/a") == .network) }
    }

    @Test(
        "the server's own caching headers stay as they are",
        arguments: [
            ("no-store", LoadSource.network), ("no-cache", .revalidated), ("max-age=0", .revalidated),
            ("private, max-age=0", .revalidated),
        ])
    func serversWord(field: String, expected: LoadSource) async throws {
        bench.server["/a"] = Reply("a", fields: ["ETag": "\"1\"", "Cache-Control": field]).conditional()
        let synchronizer = bench.synchronizer(cacheTime: 1_000)
        #expect(try await source(synchronizer, "/a") == .network)
        #expect(try await source(synchronizer, "/a") == expected)
        #expect(bench.server.counts.requests == 2)
    }

    @Test("the caller sees the server's response without the injected header, from the network and from the cache")
    func callersResponse() async throws {
        bench.server["/a"] = Reply("a", fields: ["X-Own": "1"])
        let synchronizer = bench.synchronizer(cacheTime: 100)
        for expected in [LoadSource.network, .cache] {
            synchronizer.removeAllObjects()
            let loaded = try await synchronizer.loaded(resource("/a"))
            let response = try #require(loaded.response as? HTTPURLResponse)
            #expect(loaded.source == expected)
            #expect(response.value(forHTTPHeaderField: "Cache-Control") == nil)
            #expect(response.value(forHTTPHeaderField: "X-Own") == "1")
        }
    }

    @Test("entries survive: another run of the program makes no request")
    func anotherRun() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=100"])
        let first = bench.cache()
        #expect(try await source(bench.synchronizer(cache: first), "/a") == .network)
        first.flush()
        #expect(try await source(bench.synchronizer(cache: bench.cache()), "/a") == .cache)
        #expect(bench.server.counts.requests == 1)
    }

    @Test("the query tells resources apart")
    func query() async throws {
        bench.server.handle("/img") { request in Reply(request.target, fields: ["Cache-Control": "max-age=100"]) }
        for cache in [bench.cache(), URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)] {
            let synchronizer = bench.synchronizer(cache: cache)
            for _ in 0..<2 {
                synchronizer.removeAllObjects()
                for width in [100, 200] {
                    let data = try await synchronizer.load(resource("/img?w=\(width)"))
                    #expect(String(decoding: data, as: UTF8.self) == "/img?w=\(width)")
                }
            }
        }
    }

    @Test("a stock URLCache stores one URL twice, and evicts it, without harm")
    func stockCache() async throws {
        bench.server.handle("/a") { request in
            Reply(Data(repeating: 1, count: 40_000), fields: ["Cache-Control": "max-age=1"])
        }
        let cache = URLCache(memoryCapacity: 100_000, diskCapacity: 0, diskPath: nil)
        let synchronizer = bench.synchronizer(cache: cache)
        for number in 0..<20 {
            #expect(try await source(synchronizer, "/a?\(number % 5)") == .network)
            bench.clock.advance(by: 10)
        }
    }

    // MARK: - The delegate decides

    final class Refusing: SessionDelegate, @unchecked Sendable {  // has no state of its own
        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    final class Stamping: SessionDelegate, @unchecked Sendable {  // has no state of its own
        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            guard let response = proposedResponse.response as? HTTPURLResponse, let url = response.url,
                var fields = response.allHeaderFields as? [String: String]
            else { return completionHandler(proposedResponse) }
            fields["X-Stamp"] = "seen by \(dataTask.currentRequest?.url?.path ?? "nobody")"
            let stamped = HTTPURLResponse(
                url: url, statusCode: response.statusCode, httpVersion: "HTTP/1.1", headerFields: fields)
            completionHandler(CachedURLResponse(response: stamped ?? response, data: proposedResponse.data))
        }
    }

    @Test("a delegate that refuses in willCacheResponse leaves nothing stored")
    func refusing() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=100"])
        let cache = bench.cache()
        let synchronizer = bench.synchronizer(cache: cache, delegate: Refusing())
        #expect(try await source(synchronizer, "/a") == .network)
        #expect(try await source(synchronizer, "/a") == .network)
        #expect(cache.cachedResponse(for: resource("/a").request()) == nil)
    }

    @Test("a field that a delegate changes in willCacheResponse is changed in the store")
    func stamping() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=100"])
        let cache = bench.cache()
        let synchronizer = bench.synchronizer(cache: cache, delegate: Stamping())
        #expect(try await source(synchronizer, "/a") == .network)
        let stored = cache.cachedResponse(for: resource("/a").request())?.response as? HTTPURLResponse
        #expect(stored?.value(forHTTPHeaderField: "X-Stamp") == "seen by /a")
        synchronizer.removeAllObjects()
        let response = try await synchronizer.loaded(resource("/a")).response as? HTTPURLResponse
        #expect(response?.value(forHTTPHeaderField: "X-Stamp") == "seen by /a")
        #expect(bench.server.counts.requests == 1)
    }

    // MARK: - Interrupted responses

    @Test(
        "a response that breaks off is an error, and leaves the store as it was",
        arguments: [
            Reply.Fault.close(.beforeHead), .close(.afterHead), .close(.afterBody(10)), .reset(.beforeHead),
            .reset(.afterBody(10)), .badChunkSize(after: 10), .missingChunkEnd, .missingLastChunk,
        ])
    func faults(fault: Reply.Fault) async throws {
        let fields: KeyValuePairs = ["ETag": "\"1\"", "Cache-Control": "max-age=100"]
        bench.server["/a"] = Reply("old", fields: fields)
        let synchronizer = bench.synchronizer()
        #expect(try await source(synchronizer, "/a") == .network)
        bench.clock.advance(by: 200)

        let isChunked = [.badChunkSize(after: 10), .missingChunkEnd, .missingLastChunk].contains(fault)
        let reply = Reply(Data(repeating: 7, count: 5_000), fields: ["ETag": "\"2\"", "Cache-Control": "max-age=100"])
        bench.server["/a"] = (isChunked ? reply.chunked(1_000) : reply).failing(fault)
        synchronizer.removeAllObjects()
        var request = resource("/a").request()
        request.cachePolicy = .reloadIgnoringLocalCacheData
        let error = await #expect(throws: SynchronizerError.self) {
            try await synchronizer.load(DataResource(request: request))
        }
        guard case .transport? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.url == request.url)

        request.cachePolicy = .returnCacheDataDontLoad
        #expect(try await synchronizer.load(DataResource(request: request)) == Data("old".utf8))
    }
}
