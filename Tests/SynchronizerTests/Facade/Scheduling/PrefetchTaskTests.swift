import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("The result of a prefetch", .bounded)
struct PrefetchTaskTests {
    let bench: Workbench
    let synchronizer: Synchronizer

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        bench.server.handle("/x") { request in Reply(request.target, fields: ["Cache-Control": "max-age=100"]) }
    }

    private func resource(_ target: String) -> DataResource { DataResource(url: bench.server.url(target)) }

    /// A synchronizer that notes the loads that need the network.
    private func synchronizer(maximumLoads: Int, noting events: Collector<URL?>) -> Synchronizer {
        bench.synchronizer {
            $0.maximumLoads = maximumLoads
            $0.observer = NeedsNetwork(events: events)
        }
    }

    private func resources(_ numbers: Range<Int>) -> [DataResource] { numbers.map { resource("/x?\($0)") } }

    /// A slot for each load of the window.
    private func manySlots() -> Synchronizer {
        bench.synchronizer { ($0.maximumLoads, $0.maximumLoadsPerHost) = (64, 64) }
    }

    private func words(_ result: PrefetchResult) -> [String] {
        result.outcomes.map { outcome in
            switch outcome {
            case .loaded: "loaded"
            case .alreadyCached: "cached"
            case .notStored(let reason): "\(reason)"
            case .failed(SynchronizerError.status(let response, _)): "\(response.statusCode)"
            case .failed(let error): "\(error)"
            case .cancelled: "cancelled"
            case .skipped: "skipped"
            }
        }
    }

    @Test("says of each resource whether it was loaded, was cached already, was skipped, or why it failed")
    func outcomes() async throws {
        _ = try await synchronizer.load(resource("/x?memory"))
        _ = try await bench.synchronizer(cache: synchronizer.configuration.urlCache).load(resource("/x?disk"))
        bench.server["/none"] = Reply("none", status: 404)
        var post = URLRequest(url: bench.server.url("/x?post"))
        post.httpMethod = "POST"
        let prefetch = synchronizer.prefetch(
            [
                resource("/x?memory"), resource("/none"), resource("/x?disk"), DataResource(request: post),
                resource("/x?new"),
            ])
        let result = await prefetch.result
        #expect(words(result) == ["cached", "404", "cached", "skipped", "loaded"])
        #expect((result.loaded, result.alreadyCached, result.cancelled) == (1, 2, 0))
        #expect(result.failures.map(\.index) == [1])
        #expect((result.failures.first?.error as? SynchronizerError)?.url == bench.server.url("/none"))
        #expect(prefetch.isFinished && prefetch.progress.fraction == 1)
        #expect(bench.server.requests.allSatisfy { $0.method == "GET" })
    }

    @Test("a resource is complete only if its redirects are cached, too", arguments: [true, false])
    func redirects(toDisk: Bool) async throws {
        let lifetime: KeyValuePairs = ["Cache-Control": "max-age=100"]
        bench.server["/stored"] = Reply.redirect(to: "/x?a").adding("Cache-Control", value: "max-age=100")
        bench.server["/silent"] = Reply.redirect(to: "/x?b")
        bench.server["/never"] = Reply.redirect(to: "/x?c").adding("Cache-Control", value: "no-store")
        for target in ["/x?a", "/x?b", "/x?c"] { bench.server[target] = Reply(target, fields: lifetime) }
        let resources = ["/stored", "/silent", "/never"].map(resource)
        let expected = [
            toDisk ? ["loaded", "notCacheable", "noStore"] : ["loaded", "loaded", "noStore"],
            toDisk ? ["cached", "notCacheable", "noStore"] : ["cached", "cached", "noStore"],
        ]
        for words in expected {
            let result = await synchronizer.prefetch(resources, to: toDisk ? .disk : .memory).result
            #expect(self.words(result) == words)
            #expect(!result.isComplete)
        }
        synchronizer.isOffline = true
        #expect(try await synchronizer.load(resources[0]) == Data("/x?a".utf8))
        guard toDisk else { return }
        await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resources[2]) }
    }

    @Test("a stale response that the server confirms was loaded; so was one that goes to disk only")
    func confirmed() async throws {
        bench.server["/e"] = Reply("e", fields: ["ETag": "\"1\"", "Cache-Control": "max-age=1"]).conditional()
        let first = await synchronizer.prefetch([resource("/e")], to: .disk).result
        bench.clock.advance(by: 2)
        let second = await synchronizer.prefetch([resource("/e")]).result
        #expect(words(first) + words(second) == ["loaded", "loaded"])
        #expect(bench.server.counts.replies == [200: 1, 304: 1])
    }

    @Test("says that a response which goes to the disk was not stored, and looks for it nowhere else")
    func disk() async throws {
        bench.server["/private"] = Reply("no", fields: ["Cache-Control": "no-store"])
        synchronizer.insert(Data("memory".utf8), for: resource("/x?memory"))
        let all = [resource("/private"), resource("/x?memory")]
        let toDisk = await synchronizer.prefetch(all, to: .disk).result
        #expect(words(toDisk) == ["noStore", "loaded"] && !toDisk.isComplete && toDisk.failures.isEmpty)
        let again = await synchronizer.prefetch([all[1]], to: .disk).result
        #expect(words(again) == ["cached"] && again.isComplete)
    }

    @Test("says that a response was not stored, unless memory has its object", arguments: [false, true])
    func memory(hasCache: Bool) async throws {
        bench.server["/private"] = Reply("no", fields: ["Cache-Control": "no-store"])
        let synchronizer = bench.synchronizer { if !hasCache { $0.urlCache = nil } }
        let all = [resource("/private"), resource("/x?1")]
        let result = await synchronizer.prefetch(all).result
        let outcomes = words(result)
        #expect(outcomes == ["noStore", "loaded"] && !result.isComplete)
        for (resource, source) in zip(all, [LoadSource.network, .memory]) {
            #expect(try await synchronizer.loaded(resource).source == source)
        }
    }

    @Test("says that a file was not stored, which memory never has, and an object that is too large for memory")
    func notInMemory() async throws {
        let synchronizer = bench.synchronizer {
            $0.urlCache = nil
            $0.memoryCapacity = 3
        }
        let folder = DisposableDirectory("prefetch")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = FileResource(url: bench.server.url("/x?file"), to: folder.url.appendingPathComponent("file"))
        let files = words(await synchronizer.prefetch([file]).result)
        #expect(files == ["noCache"])
        let objects = words(await synchronizer.prefetch([resource("/x?large")]).result)
        #expect(objects == ["noCache"])
    }

    @Test("nothing to prefetch has finished at once")
    func empty() async {
        let prefetch = synchronizer.prefetch([DataResource]())
        #expect(prefetch.isFinished && prefetch.progress.fraction == 1)
        #expect(await prefetch.result.outcomes.isEmpty)
        for await progress in prefetch.progressUpdates { #expect(progress.total == 0) }
    }

    @Test("progress counts to the end, and never backwards")
    func progress() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        let prefetch = synchronizer.prefetch(resources(0..<30))
        #expect(prefetch.progress == PrefetchProgress(finished: 0, total: 30))
        var seen: [Int] = []
        for await progress in prefetch.progressUpdates {
            seen.append(progress.finished)
            gate.open()
        }
        #expect(seen.first == 0 && seen.last == 30 && seen == seen.sorted())
    }

    @Test("cancelling finishes the rest as cancelled, and leaves other prefetches alone")
    func cancelling() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        bench.server["/quick"] = Reply("quick", fields: ["Cache-Control": "max-age=100"])
        // There is a slot for the quick one, whichever of the window's loads get theirs first.
        let synchronizer = manySlots()
        let first = synchronizer.prefetch([resource("/quick")] + resources(0..<40))
        let second = synchronizer.prefetch(resources(40..<42))
        try await waitUntil("one has finished") { first.progress.finished == 1 }
        first.cancel()
        first.cancel()
        let result = await first.result
        #expect(words(result) == ["loaded"] + Array(repeating: "cancelled", count: 40))
        #expect(!second.isFinished)
        gate.open()
        #expect(await second.result.loaded == 2)
    }

    @Test("a load that coalesces with a prefetch keeps it when the prefetch is cancelled, which finishes at once")
    func joined() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        let prefetch = synchronizer.prefetch(resources(0..<1))
        try await gate.waitForArrivals()
        let load = Task { [synchronizer, resource = resource("/x?0")] in try await synchronizer.load(resource) }
        try await waitUntil("two have subscribed") { synchronizer.loader.update { $0.receivers.count } >= 2 }
        prefetch.cancel()
        #expect(words(await prefetch.result) == ["cancelled"])
        gate.open()
        #expect(try await load.value == Data("/x?0".utf8))
    }

    @Test("the more urgent prefetch goes first, also if its priority is raised later")
    func priorities() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        // With fewer slots a visible load would take that of a speculative one, which would be requested twice.
        let synchronizer = manySlots()
        let window = synchronizer.prefetcher.window
        let running = synchronizer.prefetch(resources(0..<window))
        let low = synchronizer.prefetch(resources(100..<103))
        let raised = synchronizer.prefetch(resources(200..<203))
        let high = synchronizer.prefetch(resources(300..<303), priority: .normal)
        raised.priority = .high
        #expect(raised.priority == .high && low.priority == .low)
        let next = synchronizer.prefetcher.waiting.compactMap { $0.request.url?.query }
        #expect(next == [200, 201, 202, 300, 301, 302, 100, 101, 102].map(String.init))
        running.priority = .veryHigh
        gate.open()
        for prefetch in [running, low, raised, high] { #expect(await prefetch.result.failures.isEmpty) }
        #expect(bench.server.counts.requests == window + 9)
    }

    @Test("the loads of a prefetch do not take each other's slots when its priority is raised")
    func raisedTogether() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        let events = Collector<URL?>()
        let synchronizer = self.synchronizer(maximumLoads: 2, noting: events)
        let prefetch = synchronizer.prefetch(resources(0..<6))
        try await events.wait(for: 6)
        try await gate.waitForArrivals(2)
        prefetch.priority = .high
        gate.open()
        #expect(await prefetch.result.loaded == 6)
        #expect(bench.server.counts.requests == 6)
    }

    @Test("raising the priority of a prefetch raises that of its loads in flight")
    func raising() async throws {
        let gate = Gate()
        bench.server.handle("/x") { request in Reply(request.target).waiting(for: gate) }
        let events = Collector<URL?>()
        let synchronizer = self.synchronizer(maximumLoads: 1, noting: events)
        // The only slot is taken, so the prefetches wait in the network queue: the newest first, unless one is raised.
        let blocking = synchronizer.prefetch([resource("/x?blocking")], priority: .high)
        try await bench.server.waitForRequests(1)
        let first = synchronizer.prefetch([resource("/x?first")])
        let second = synchronizer.prefetch([resource("/x?second")])
        try await events.wait(for: 3)
        first.priority = .normal
        gate.open()
        for prefetch in [blocking, first, second] { #expect(await prefetch.result.loaded == 1) }
        #expect(bench.server.requests.map(\.query) == ["blocking", "first", "second"])
    }
}

/// Collects the loads that wait for a network slot.
struct NeedsNetwork: SynchronizerObserver {
    let events: Collector<URL?>

    func synchronizerDid(_ event: SynchronizerEvent) {
        if case .needsNetwork = event.kind { events.append(event.url) }
    }
}
