import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Whether a response was stored, and why not", .bounded)
struct StoringTests {
    private final class InMemory: SessionDelegate, @unchecked Sendable {  // it has no state
        override func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposed: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            completionHandler(
                CachedURLResponse(
                    response: proposed.response, data: proposed.data, userInfo: proposed.userInfo,
                    storagePolicy: .allowedInMemoryOnly))
        }
    }

    private final class Noting: SynchronizerObserver {
        let reasons = Collector<ResponseStoring.Reason>()
        let stored = Collector<Int>()
        func synchronizerDid(_ event: SynchronizerEvent) {
            if case .notStored(let reason) = event.kind { reasons.append(reason) }
            if case .stored(let bytes) = event.kind { stored.append(bytes) }
        }
    }

    let bench: Workbench
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        resource = DataResource(url: bench.server.url("/a"))
    }

    private func storing(_ synchronizer: Synchronizer, _ resource: some Resource) async -> LoadTrace {
        do {
            return try await synchronizer.loaded(resource).trace
        } catch {
            return (error as? SynchronizerError)?.context.trace ?? LoadTrace()
        }
    }

    @Test(
        "is in the trace, and the next load says why nothing was found",
        arguments: [
            (Reply("a", fields: ["Cache-Control": "no-store"]), ResponseStoring.Reason.noStore),
            (Reply("a", fields: ["Cache-Control": "max-age=9", "Vary": "*"]), .variesOnEverything),
            (Reply("no", status: 403), .notCacheable),
            (Reply("a", status: 206, fields: ["Cache-Control": "max-age=9"]), .status),
            (Reply(Data(count: 3_000), fields: ["Cache-Control": "max-age=9"]), .tooLarge),
            (
                Reply(Data(count: 900), fields: ["Cache-Control": "max-age=9"]).failing(.close(.afterBody(10))),
                .incomplete
            ),
        ])
    func reasons(reply: Reply, reason: ResponseStoring.Reason) async throws {
        bench.server["/a"] = reply
        let observer = Noting()
        let synchronizer = bench.synchronizer {
            $0.observer = observer
            $0.maximumResponseSize = 2_000
        }
        #expect(await storing(synchronizer, resource).storing == .notStored(reason))
        #expect(observer.reasons.elements == [reason])
        bench.server["/a"] = Reply("better", fields: ["Cache-Control": "max-age=9"])
        let trace = await storing(synchronizer, resource)
        #expect(trace.storing == .stored && trace.reason.hasSuffix("not stored: \(reason.rawValue)"))
        synchronizer.removeAllObjects()
        let hit = await storing(synchronizer, resource)
        #expect(hit.source == .cache && hit.storing == nil)
    }

    @Test("says that the delegate refused it, that the request forbids it, or that there is no cache")
    func others() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=9"])
        let refusing = bench.synchronizer(delegate: RefusingDelegate())
        #expect(await storing(refusing, resource).storing == .notStored(.refusedByDelegate))
        let uncached = bench.synchronizer { $0.urlCache = nil }
        #expect(await storing(uncached, resource).storing == .notStored(.noCache))
        var request = resource.request()
        request.setValue("no-store", forHTTPHeaderField: "Cache-Control")
        let synchronizer = bench.synchronizer()
        #expect(await storing(synchronizer, DataResource(request: request)).storing == .notStored(.requestNoStore))
        request.setValue(nil, forHTTPHeaderField: "Cache-Control")
        request.httpMethod = "POST"
        #expect(await storing(synchronizer, DataResource(request: request)).storing == .notStored(.method))
    }

    private enum Small: CaseIterable {
        case onDisk, inMemory, foundation

        func cache(_ bench: Workbench) -> URLCache {
            switch self {
            case .onDisk:
                SQLiteURLCache(
                    memoryCapacity: 100_000, diskCapacity: 500_000, directory: bench.directory, time: bench.clock)
            case .inMemory:
                SQLiteURLCache(
                    memoryCapacity: 100_000, diskCapacity: 9 << 20, directory: bench.directory, time: bench.clock)
            case .foundation: URLCache(memoryCapacity: 100_000, diskCapacity: 0, diskPath: nil)
            }
        }
    }

    @Test("says that the cache is too small for it", arguments: Small.allCases)
    private func small(kind: Small) async throws {
        bench.server["/a"] = Reply(Data(count: 400_000), fields: ["Cache-Control": "max-age=9"])
        let observer = Noting()
        let synchronizer = bench.synchronizer(
            cache: kind.cache(bench), delegate: kind == .inMemory ? InMemory() : nil
        ) { $0.observer = observer }
        #expect(await storing(synchronizer, resource).storing == .notStored(.tooLarge))
        #expect(observer.reasons.elements == [.tooLarge] && observer.stored.count == 0)
    }

    private enum WithoutFiles: CaseIterable {
        case foundation, memory, delegate

        func cache(_ bench: Workbench) -> URLCache {
            switch self {
            case .foundation: URLCache(memoryCapacity: 9 << 20, diskCapacity: 0, diskPath: nil)
            case .memory:
                SQLiteURLCache(
                    memoryCapacity: 9 << 20, diskCapacity: 0, directory: bench.directory, time: bench.clock)
            case .delegate: bench.cache()
            }
        }
    }

    @Test("says that a body is too large for a cache that does not take its file", arguments: WithoutFiles.allCases)
    private func file(kind: WithoutFiles) async throws {
        bench.server["/a"] = Reply(Data(count: 2 << 20), fields: ["Cache-Control": "max-age=9"])
        let folder = DisposableDirectory("files")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = FileResource(url: bench.server.url("/a"), to: folder.url.appendingPathComponent("a"))
        let observer = Noting()
        let synchronizer = bench.synchronizer(
            cache: kind.cache(bench), delegate: kind == .delegate ? InMemory() : nil
        ) { $0.observer = observer }
        #expect(await storing(synchronizer, file).storing == .notStored(.tooLarge))
        #expect(observer.stored.count == 0)
        let again = await storing(synchronizer, file)
        #expect(again.source == .network && again.reason.contains("not stored"))
    }

    @Test("a file that arrives late does not remove a response that was requested later")
    func lateFile() async throws {
        let gate = Gate()
        bench.server.enqueue(
            Reply(Data(count: 2 << 20), fields: ["Cache-Control": "max-age=9"]).waiting(for: gate),
            Reply("new", fields: ["Cache-Control": "max-age=9"]), for: "/a")
        let folder = DisposableDirectory("late")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let cache = bench.cache()
        let first = bench.synchronizer(cache: cache) { $0.leases = nil }
        let other = bench.synchronizer(cache: cache) { $0.leases = nil }
        let file = FileResource(url: bench.server.url("/a"), to: folder.url.appendingPathComponent("a"))
        let late = Task { try await first.load(file) }
        try await bench.server.waitForRequests(1)
        bench.clock.advance(by: 1)
        _ = try await other.load(DataResource(url: bench.server.url("/a")))
        gate.open()
        _ = try await late.value
        other.removeAllObjects()
        let stored = try await other.loaded(DataResource(url: bench.server.url("/a")))
        #expect(stored.source == .cache && stored.object == Data("new".utf8))
    }

    @Test("says that the disk fails, once a write has failed, until one succeeds")
    func failingDisk() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=9"])
        // A file in place of the directory: nothing can be written.
        try Data().write(to: bench.directory)
        let cache = bench.cache()
        let observer = Noting()
        let synchronizer = bench.synchronizer(cache: cache) { $0.observer = observer }
        let reloading = DataResource(
            request: URLRequest(url: bench.server.url("/a"), cachePolicy: .reloadIgnoringLocalCacheData))
        _ = await storing(synchronizer, reloading)  // the write may fail before or after the load asks for failures
        cache.flush()
        #expect(await storing(synchronizer, reloading).storing == .notStored(.diskFailed))
        #expect(observer.reasons.elements.allSatisfy { $0 == .diskFailed } && observer.reasons.count > 0)
        cache.flush()
        try FileManager.default.removeItem(at: bench.directory)
        _ = await storing(synchronizer, reloading)
        cache.flush()
        #expect(await storing(synchronizer, reloading).storing == .stored)
    }

    @Test("says that it was invalidated during the load")
    func invalidated() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=9"]).waiting(for: gate)
        let synchronizer = bench.synchronizer()
        let load = Task { await storing(synchronizer, resource) }
        try await gate.waitForArrivals(1)
        synchronizer.invalidate(resource)
        gate.open()
        #expect(await load.value.storing == .notStored(.invalidated))
    }

    @Test("is stored where a 304 confirms an entry")
    func confirmed() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "no-cache", "ETag": "\"1\""]).conditional()
        let synchronizer = bench.synchronizer()
        for source in [LoadSource.network, .revalidated] {
            let trace = await storing(synchronizer, resource)
            #expect(trace.source == source && trace.storing == .stored)
        }
    }

    @Test("is not said after a request with another method or body")
    func otherRequests() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=9"])
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(EmptyResource(url: bench.server.url("/a"), method: "HEAD"))
        #expect(try await synchronizer.loaded(resource).trace.reason == "nothing is stored")
        bench.server["/b"] = Reply("1", fields: ["Cache-Control": "no-store"])
        for key in ["one", "two"] {
            let query = try JSONResource<Int>(
                url: bench.server.url("/b"), method: "QUERY", body: 1, cacheKey: CacheKey(key))
            #expect(try await synchronizer.loaded(query).trace.reason == "nothing is stored")
            #expect(try await synchronizer.loaded(query).trace.reason.hasSuffix("the response says no-store"))
        }
    }

    @Test("is known in native mode")
    func native() async throws {
        let harness = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=9"], "a"))
        #expect(harness.load().fetched?.trace.storing == .stored)
        let other = NativeHarness(FakeReply(200, ["Cache-Control": "max-age=9"], "a"))
        #expect(other.load { $0.httpMethod = "POST" }.fetched?.trace.storing == .notStored(.method))
        other.session.bypassesDelegate.withLock { $0 = true }
        #expect(other.load().fetched?.trace.storing == .notStored(.session))
        let personal = NativeHarness()
        personal.session.network.hold()
        let events = personal.load()
        personal.session.network.held.first?.report(.authorized("Basic x"))
        personal.session.network.release(FakeReply(200, ["Cache-Control": "max-age=9"], "a"))
        #expect(events.fetched?.trace.storing == .notStored(.personal))
    }

    @Test("is said by the next load in native mode, too, until everything is removed")
    func nativePreviously() async throws {
        let harness = NativeHarness(FakeReply(200, ["Vary": "*"], "a"))
        harness.session.bypassesDelegate.withLock { $0 = true }
        #expect(harness.load().fetched?.trace.reason == "URLSession answered")
        let reason = "the last response was not stored: \(ResponseStoring.Reason.variesOnEverything.rawValue)"
        #expect(harness.load().fetched?.trace.reason == "URLSession answered; \(reason)")
        let offline = harness.load { $0.cachePolicy = .returnCacheDataDontLoad }
        #expect(offline.error?.context.trace.reason.hasSuffix(reason) == true)
        harness.fetcher.removeAllStored()
        #expect(harness.load().fetched?.trace.reason == "URLSession answered")
    }

    @Test("says that the resource could not parse it, or that it was invalidated")
    func removed() async throws {
        bench.server["/a"] = Reply("no JSON", fields: ["Cache-Control": "max-age=9"])
        let synchronizer = bench.synchronizer()
        let json = JSONResource<Int>(url: bench.server.url("/a"))
        #expect(await storing(synchronizer, json).storing == .notStored(.undecodable))
        let second = await storing(synchronizer, json)
        #expect(second.reason.hasSuffix("not stored: it could not be parsed"))
        _ = try await synchronizer.load(resource)
        synchronizer.invalidate(resource)
        #expect(await storing(synchronizer, resource).reason.hasSuffix("not stored: it was invalidated"))
    }

    @Test("says nothing about a redirect if the cache answers in the end")
    func redirect() async throws {
        bench.server["/a"] = Reply("a", fields: ["Cache-Control": "max-age=9"])
        bench.server["/moved"] = .redirect(to: "/a")
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(resource)
        let trace = await storing(synchronizer, DataResource(url: bench.server.url("/moved")))
        #expect(trace.source == .cache && trace.storing == nil)
    }
}
