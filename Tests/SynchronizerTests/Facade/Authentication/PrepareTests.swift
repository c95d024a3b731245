import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

/// A hook that adds a token, counts its calls, and waits until a test lets it continue.
final class Preparing: Sendable {
    let token = Locked("t1")
    /// The requests that it was called with.
    let calls = Collector<URLRequest>()
    let isCancelled = Collector<Bool>()
    let admissions = Collector<Bool>()
    private let waits: Bool

    init(waits: Bool = false) {
        self.waits = waits
    }

    /// Lets all calls continue.
    func admit() { admissions.append(true) }

    /// Waits even if its task is cancelled, as a careless hook does.
    func prepare(_ request: URLRequest) async throws -> URLRequest {
        var prepared = request
        prepared.setValue("Bearer \(token.withLock { $0 })", forHTTPHeaderField: "Authorization")
        calls.append(request)
        guard waits else { return prepared }
        let admissions = admissions
        _ = try await Task.detached { try await admissions.wait(for: 1) }.value
        if Task.isCancelled { isCancelled.append(true) }
        return prepared
    }
}

private struct Refused: Error, Equatable {
    let number: Int
}

@Suite("Requests that Configuration.prepare changes", .bounded)
struct PrepareTests {
    let bench: Workbench
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        resource = DataResource(url: bench.server.url("/a"))
        bench.server.handle("/a") { request in
            Reply(request["Authorization"] ?? "anonymous", fields: ["Cache-Control": "max-age=100"])
        }
    }

    func synchronizer(
        _ hook: Preparing, _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) -> Synchronizer {
        bench.synchronizer { configuration in
            configuration.prepare = { try await hook.prepare($0) }
            change(&configuration)
        }
    }

    @Test("are sent as the hook returns them, and a response is never used for another token")
    func tokens() async throws {
        let hook = Preparing()
        let synchronizer = synchronizer(hook)
        #expect(try await synchronizer.load(resource) == Data("Bearer t1".utf8))
        #expect(try await synchronizer.loaded(resource).source == .memory)
        hook.token.withLock { $0 = "t2" }
        #expect(try await synchronizer.load(resource) == Data("Bearer t2".utf8))
        hook.token.withLock { $0 = "t1" }
        #expect(try await synchronizer.loaded(resource).source == .memory)
        #expect(bench.server.requests.map { $0["Authorization"] } == ["Bearer t1", "Bearer t2"])
        #expect(hook.calls.count == 4, "once for each load, also where memory answers")
        #expect(synchronizer.cachedObject(for: resource) == nil, "its key is not known")
    }

    @Test("are prepared once, however the load is started", arguments: LoadWay.allCases)
    func ways(way: LoadWay) async throws {
        let hook = Preparing()
        let synchronizer = synchronizer(hook)
        for _ in 0..<2 {
            let body = try await way.load(resource, with: synchronizer)
            #expect(body == nil || body == Data("Bearer t1".utf8))
            if way.isPrefetch { try await waitUntil("it is loaded") { synchronizer.prefetcher.isIdle } }
        }
        #expect(hook.calls.count == 2)
        #expect(bench.server.counts.requests == 1)
    }

    @Test("fail with the error of the hook, unchanged", arguments: LoadWay.allCases.filter { !$0.isPrefetch })
    func errors(way: LoadWay) async throws {
        let synchronizer = bench.synchronizer { $0.prepare = { _ in throw Refused(number: 7) } }
        let error = await #expect(throws: (any Error).self) { try await way.load(resource, with: synchronizer) }
        if way == .follow {
            guard case .hookFailed(let thrown, let context)? = error as? SynchronizerError else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(thrown as? Refused == Refused(number: 7) && context.url == resource.request().url)
        } else {
            #expect(error as? Refused == Refused(number: 7))
        }
        #expect(bench.server.counts.requests == 0)
    }

    @Test("coalesce when they are prepared, and errors name the URL that the caller knows")
    func coalescing() async throws {
        let gate = Gate()
        bench.server["/same"] = Reply("missing", status: 404).waiting(for: gate)
        let target = bench.server.url("/same")
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { request in
                var request = request
                request.url = target
                return request
            }
        }
        let urls = ["/one", "/two"].map(bench.server.url)
        let loads = urls.map { url in Task { try await synchronizer.load(DataResource(url: url)) } }
        try await gate.waitForArrivals(1)
        try await waitUntil("both wait for it") {
            synchronizer.loader.state.withLock { $0.machine.subscribers.count } == 2
        }
        gate.open()
        for (url, load) in zip(urls, loads) {
            let error = await #expect(throws: SynchronizerError.self) { try await load.value }
            #expect(error?.url == url)
        }
        #expect(bench.server.counts.requests == 1)
    }

    @Test("are cancelled at once, although the hook still runs")
    func cancelling() async throws {
        let hook = Preparing(waits: true)
        let synchronizer = synchronizer(hook)
        let load = Task { try await synchronizer.load(resource) }
        try await hook.calls.wait(for: 1)
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        let completions = Locked(0)
        let cancel = synchronizer.loadResource(resource, on: .global()) { _ in completions.withLock { $0 += 1 } }
        try await hook.calls.wait(for: 2)
        cancel()
        hook.admit()
        try await hook.isCancelled.wait(for: 2)
        #expect(bench.server.counts.requests == 0 && completions.withLock { $0 } == 0)
        #expect(synchronizer.loader.state.withLock { $0.receivers.isEmpty })
    }

    @Test("have the priority that was set while they were prepared")
    func priority() async throws {
        let hook = Preparing(waits: true)
        let gate = Gate()
        bench.server["/slow"] = Reply("slow").waiting(for: gate)
        let synchronizer = synchronizer(hook)
        let task = synchronizer.startLoading(DataResource(url: bench.server.url("/slow")), priority: .low) { _ in }
        task.priority = .veryHigh
        hook.admit()
        try await gate.waitForArrivals(1)
        let priorities = synchronizer.loader.state.withLock { state in
            state.downloads.ids.compactMap { state.machine.downloads[$0]?.priorities.highest }
        }
        #expect(priorities == [.veryHigh])
        gate.open()
    }

    @Test("end at the time limit of the load, though the hook does not")
    func timeLimit() async throws {
        let hook = Preparing(waits: true)
        let synchronizer = synchronizer(hook) { $0.timeoutForLoad = 5 }
        let load = Task { try await synchronizer.load(resource) }
        try await hook.calls.wait(for: 1)
        try await bench.clock.runTimer(after: 5...5)
        let error = await #expect(throws: SynchronizerError.self) { try await load.value }
        #expect((error?.underlyingError as? URLError)?.code == .timedOut)
        #expect(error?.context.trace.reason == "the load reached its time limit while it waited for a hook")
        hook.admit()
    }

    @Test("do not take the hook's token to another origin")
    func redirects() async throws {
        let other = try ScriptedServer { Reply($0["Authorization"] ?? "anonymous") }
        bench.server["/away"] = .redirect(to: other.url("/there").absoluteString)
        let hook = Preparing()
        let body = try await synchronizer(hook).load(DataResource(url: bench.server.url("/away")))
        #expect(body == Data("anonymous".utf8))
        #expect(hook.calls.count == 1)
    }

    @Test("are prepared again if everything is removed before the hook returns: the token may be the old user's")
    func removingAll() async throws {
        let hook = Preparing(waits: true)
        let synchronizer = synchronizer(hook)
        let load = Task { try await synchronizer.load(resource) }
        try await hook.calls.wait(for: 1)
        synchronizer.removeAll()
        hook.token.withLock { $0 = "t2" }
        hook.admit()
        #expect(try await load.value == Data("Bearer t2".utf8))
        #expect(bench.server.requests.map { $0["Authorization"] } == ["Bearer t2"])
    }

    @Test("are invalidated by the URL of the resource at once, and by that of the prepared request when it is known")
    func invalidating() async throws {
        let hook = Preparing()
        let synchronizer = synchronizer(hook)
        _ = try await synchronizer.load(resource)
        synchronizer.invalidate(resource)
        #expect(try await synchronizer.loaded(resource).source == .network)

        let target = bench.server.url("/a?signed")
        let signing = bench.synchronizer { configuration in
            configuration.prepare = { _ in URLRequest(url: target) }
        }
        _ = try await signing.load(resource)
        signing.invalidate(resource)
        let cache = signing.configuration.urlCache
        try await waitUntil("its object and its response are removed") {
            signing.memory.count == 0 && cache?.cachedResponse(for: URLRequest(url: target)) == nil
        }
        #expect(try await signing.loaded(resource).source == .network)
    }

    @Test("may be prepared with what the same synchronizer loads")
    func nested() async throws {
        bench.server["/token"] = Reply("t9")
        let box = Locked<Synchronizer?>(nil)
        let token = DataResource(url: bench.server.url("/token"))
        let synchronizer = bench.synchronizer { configuration in
            configuration.prepare = { request in
                var request = request
                let text = try await box.withLock { $0 }?.load(token) ?? Data()
                request.setValue(String(decoding: text, as: UTF8.self), forHTTPHeaderField: "Authorization")
                return request
            }
        }
        box.withLock { $0 = synchronizer }
        #expect(try await synchronizer.load(resource) == Data("t9".utf8))
        box.withLock { $0 = nil }
    }

    @Test("have the session's cache policy if the hook returns one without")
    func policy() async throws {
        let url = bench.server.url("/a")
        let synchronizer = bench.synchronizer { configuration in
            configuration.sessionConfiguration.requestCachePolicy = .returnCacheDataDontLoad
            configuration.prepare = { _ in URLRequest(url: url) }
        }
        let error = await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
        guard case .notCached? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("show a stale object first, then the answer, with one call of the hook")
    func updates() async throws {
        bench.server.handle("/a") { request in
            Reply("same", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=100", "ETag": "\"1\""])
                .conditional()
        }
        let hook = Preparing()
        let synchronizer = synchronizer(hook)
        _ = try await synchronizer.load(resource)
        bench.clock.advance(by: 20)
        for isInMemory in [true, false] {
            if !isInMemory { synchronizer.removeAllObjects() }
            var phases: [ResourceUpdate<Data>.Phase] = []
            for try await update in synchronizer.updates(of: resource) { phases.append(update.phase) }
            #expect(phases.last == .unchanged && phases.count == 2)
            bench.clock.advance(by: 20)
        }
        #expect(hook.calls.count == 3)
        #expect(bench.server.requests.map { $0["Authorization"] } == ["Bearer t1", "Bearer t1", "Bearer t1"])
    }
}
