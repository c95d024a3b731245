import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Beginnings of downloads that no load continues", .bounded)
struct FileLeftoverTests {
    let files: FileBench
    let whole = FileBench.body(3_000_000)
    var bench: Workbench { files.bench }
    private var reply: Reply { Reply(whole, fields: ["ETag": "\"1\""]).ranged() }
    private var cut: Reply { reply.failing(.close(.afterBody(1_000_000))) }

    init() throws {
        files = try FileBench()
    }

    private func fail(_ resource: FileResource, with synchronizer: Synchronizer) async {
        await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource) }
    }

    private func expectNoLeftovers() throws {
        #expect(files.content() == whole)
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("are removed by a load that ignores stored responses", arguments: [true, false])
    func reload(takesLarge: Bool) async throws {
        let request = URLRequest(url: bench.server.url("/a"), cachePolicy: .reloadIgnoringLocalCacheData)
        let resource = FileResource(request: request, to: files.file())
        bench.server.enqueue(cut, cut, reply, for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        for _ in 0..<2 { await fail(resource, with: synchronizer) }
        #expect(files.partials.count + (try files.names.count) == 2)  // one body, and its record
        _ = try await synchronizer.load(resource)
        #expect(bench.server.requests.allSatisfy { $0["Range"] == nil })
        try expectNoLeftovers()
    }

    @Test("are removed when a load has continued another one", arguments: [true, false])
    func several(takesLarge: Bool) async throws {
        let gate = Gate()
        bench.server.enqueue(reply.waiting(for: gate, .afterBody(2_000_000)), cut, reply, for: "/a")
        let (one, other) = (files.synchronizer(takesLarge: takesLarge), files.synchronizer(takesLarge: takesLarge))
        let task = await MainActor.run { one.startLoading(files.resource()) { _ in } }
        for await progress in task.progressUpdates where progress.received == 2_000_000 { break }
        await fail(files.resource(), with: other)
        try await waitUntil("both files are there") {
            files.partials.count + ((try? files.names.count) ?? 0) == 4
        }
        task.cancel()
        try await one.waitUntilIdle()
        _ = try await one.load(files.resource())
        #expect(bench.server.requests.map { $0["Range"] } == [nil, nil, "bytes=2000000-"])
        try expectNoLeftovers()
    }

    @Test("are removed when a body begins although a newer response was stored")
    func newerStored() async throws {
        bench.server.enqueue(cut, Reply("gone", status: 404), reply, for: "/a")
        let synchronizer = files.synchronizer(takesLarge: false)
        for _ in 0..<2 { await fail(files.resource(), with: synchronizer) }
        _ = try await synchronizer.load(files.resource())
        try expectNoLeftovers()
    }

    @Test("stay if they are another user's", arguments: [true, false])
    func otherUsers(takesLarge: Bool) async throws {
        var request = URLRequest(url: bench.server.url("/a"))
        request.setValue("Bearer 1", forHTTPHeaderField: "Authorization")
        let theirs = FileResource(request: request, to: files.file())
        bench.server.enqueue(cut, reply, reply, for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        await fail(theirs, with: synchronizer)
        _ = try await synchronizer.load(files.resource())
        #expect(files.content() == whole)
        _ = try await synchronizer.load(theirs)
        #expect(bench.server.requests.map { $0["Range"] } == [nil, nil, "bytes=1000000-"])
        try expectNoLeftovers()
    }

    @Test("an error has its body only if that has at most a megabyte", arguments: [1 << 20, 1 << 20 + 1])
    func errorBody(size: Int) async throws {
        bench.server["/a"] = Reply(Data(repeating: 1, count: size), status: 404)
        let error = await #expect(throws: SynchronizerError.self) {
            try await files.synchronizer().load(files.resource())
        }
        guard case .status(_, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.body?.count == (size > 1 << 20 ? nil : size))
    }
}
