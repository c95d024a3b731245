import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("A load task", .bounded)
@MainActor struct LoadTaskTests {
    let bench: Workbench
    let synchronizer: Synchronizer
    let gate = Gate()
    let resource: DataResource

    init() throws {
        bench = try Workbench()
        synchronizer = bench.synchronizer()
        resource = DataResource(url: bench.server.url("/a"))
        let fields: KeyValuePairs = ["Cache-Control": "max-age=100"]
        bench.server["/a"] = Reply(Data(repeating: 1, count: 50_000), fields: fields)
            .waiting(for: gate, .afterBody(20_000))
    }

    @Test("tells its progress, until it is finished")
    func progress() async throws {
        let answers = Collector<Int>()
        let task = synchronizer.startLoading(resource) { result in
            if case .success(let data) = result { answers.append(data.count) }
        }
        #expect(LoadProgress(received: 0).fraction == nil)
        var seen: [LoadProgress] = []
        for await progress in task.progressUpdates {
            seen.append(progress)
            if progress.received == 20_000 {
                #expect(progress.fraction == 0.4)
                #expect(!task.isFinished)
                gate.open()
            }
        }
        try await answers.wait(for: 1)
        #expect(seen == seen.sorted { $0.received < $1.received })
        #expect(task.progress == LoadProgress(received: 50_000, expected: 50_000))
        #expect(task.progress.fraction == 1)
        #expect(task.isFinished)
        var afterwards: [LoadProgress] = []
        for await progress in task.progressUpdates { afterwards.append(progress) }
        #expect(afterwards == [task.progress])
    }

    @Test("has the progress of the load that it joins, at once")
    func joined() async throws {
        let first = synchronizer.startLoading(resource) { _ in }
        for await progress in first.progressUpdates where progress.received == 20_000 { break }
        let second = synchronizer.startLoading(resource) { _ in }
        #expect(second.progress == LoadProgress(received: 20_000, expected: 50_000))
        gate.open()
        for await _ in second.progressUpdates {}
        #expect(second.progress == LoadProgress(received: 50_000, expected: 50_000))
        #expect(bench.server.counts.requests == 1)
    }

    @Test("ends its progress when it is cancelled, and calls no handler")
    func cancel() async throws {
        let task = synchronizer.startLoading(resource) { _ in Issue.record("was cancelled") }
        try await gate.waitForArrivals()
        let updates = task.progressUpdates
        task.cancel()
        #expect(task.isFinished)
        for await _ in updates {}
        task.cancel()
        task.priority = .high
        try await bench.server.waitUntilConnectionsClosed()
        try await synchronizer.waitUntilIdle()
    }

    @Test("is finished before it is returned, if the object is in memory")
    func memory() async throws {
        gate.open()
        _ = try await synchronizer.load(resource)
        var size = 0
        let task = synchronizer.startLoading(resource) { result in
            if case .success(let data) = result { size = data.count }
        }
        #expect(size == 50_000)
        #expect(task.isFinished)
    }

    @Test("ends its progress with the size of a stored body, from the cache and after 304", arguments: [false, true])
    func stored(isStale: Bool) async throws {
        let body = Data(repeating: 1, count: 50_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=100", "ETag": "\"1\""]).conditional()
        let synchronizer = bench.synchronizer()
        _ = try await synchronizer.load(resource)
        synchronizer.removeAllObjects()
        if isStale { bench.clock.advance(by: 200) }
        let folder = DisposableDirectory("progress")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = FileResource(url: bench.server.url("/a"), to: folder.url.appendingPathComponent("a"))
        let tasks = [synchronizer.startLoading(resource) { _ in }, synchronizer.startLoading(file) { _ in }]
        for task in tasks {
            var last: LoadProgress?
            for await progress in task.progressUpdates { last = progress }
            #expect(last == LoadProgress(received: body.count, expected: body.count))
            #expect(task.progress == last)
        }
    }

    @Test("is finished after an error, too")
    func failure() async throws {
        bench.server["/b"] = Reply("no", status: 404)
        let answers = Collector<Bool>()
        let task = synchronizer.startLoading(DataResource(url: bench.server.url("/b"))) { result in
            if case .error = result { answers.append(true) }
        }
        for await _ in task.progressUpdates {}
        try await answers.wait(for: 1)
        #expect(task.isFinished)
    }
}
