import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Downloads that stopped midway", .bounded)
struct FileResumingTests {
    let files: FileBench
    let whole = FileBench.body(3_000_000)
    var bench: Workbench { files.bench }

    init() throws {
        files = try FileBench()
    }

    func reply(_ body: Data, tag: String = "\"1\"") -> Reply { Reply(body, fields: ["ETag": tag]).ranged() }

    var ranges: [String?] { bench.server.requests.map { $0["Range"] } }

    @Test("go on when they are retried", arguments: [true, false])
    func retried(takesLarge: Bool) async throws {
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(1_000_000))), reply(whole).failing(.close(.afterBody(700_000))),
            reply(whole), for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge, attempts: 3)
        async let loaded = synchronizer.loaded(files.resource())
        for bound in [0.5, 1] { try await bench.clock.runTimer(after: 0...bound) }
        let trace = try await loaded.trace
        #expect(files.content() == whole)
        #expect(ranges == [nil, "bytes=1000000-", "bytes=1700000-"])
        #expect(bench.server.requests.map { $0["If-Range"] } == [nil, "\"1\"", "\"1\""])
        #expect(trace.bytesSaved == 1_700_000)
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("fail at once if beginning and rest together are too large", arguments: [1_500_000, 2_500_000])
    func tooLarge(limit: Int) async throws {
        bench.server.enqueue(reply(whole).failing(.reset(.afterBody(1_000_000))), reply(whole), for: "/a")
        let synchronizer = files.synchronizer()
        await #expect(throws: SynchronizerError.self) { try await synchronizer.load(files.resource()) }
        let resource = FileResource(url: bench.server.url("/a"), to: files.file(), maximumSize: limit)
        await #expect {
            try await synchronizer.load(resource)
        } throws: { error in
            guard case .tooLarge(limit, _)? = error as? SynchronizerError else { return false }
            return true
        }
        #expect(ranges.count == 2)
        #expect(try files.names.isEmpty)
    }

    @Test("go on in another load, over another cache object", arguments: [true, false])
    func later(takesLarge: Bool) async throws {
        bench.server.enqueue(reply(whole).failing(.reset(.afterBody(1_000_000))), reply(whole), for: "/a")
        await #expect(throws: SynchronizerError.self) {
            _ = try await files.synchronizer(takesLarge: takesLarge).load(files.resource())
        }
        #expect(files.partials.isEmpty != takesLarge)
        #expect(try files.names.isEmpty == takesLarge)
        _ = try await files.synchronizer(takesLarge: takesLarge).load(files.resource())
        #expect(files.content() == whole)
        let start = try #require(ranges.last??.dropFirst(6).dropLast()).description
        #expect((1...1_000_000).contains(Int(start) ?? 0))
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test(
        "go on with a date that is a strong validator, also over another cache object, and start over if it has changed",
        arguments: [true, false], [false, true])
    func dates(takesLarge: Bool, hasChanged: Bool) async throws {
        let dates = ["Fri, 01 Jan 2027 00:00:00 GMT", "Sat, 02 Jan 2027 00:00:00 GMT"]
        let other = hasChanged ? FileBench.body(2_500_000, seed: 2) : whole
        bench.server.enqueue(
            Reply(whole, fields: ["Last-Modified": dates[0]]).ranged().failing(.close(.afterBody(1_000_000))),
            Reply(other, fields: ["Last-Modified": dates[hasChanged ? 1 : 0]]).ranged(), for: "/a")
        await #expect(throws: SynchronizerError.self) {
            _ = try await files.synchronizer(takesLarge: takesLarge).load(files.resource())
        }
        _ = try await files.synchronizer(takesLarge: takesLarge).load(files.resource())
        #expect(files.content() == other)
        #expect(ranges == [nil, "bytes=1000000-"])
        #expect(bench.server.requests.last?["If-Range"] == dates[0])
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("go on after they were cancelled", arguments: [true, false])
    func cancelled(takesLarge: Bool) async throws {
        let gate = Gate()
        bench.server.enqueue(
            reply(whole).waiting(for: gate, .afterBody(2_000_000)), reply(whole), for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        let task = await MainActor.run { synchronizer.startLoading(files.resource()) { _ in } }
        for await progress in task.progressUpdates where progress.received == 2_000_000 { break }
        // A load that is cancelled before its file is open keeps nothing.
        try await waitUntil("its file is open") { !files.partials.isEmpty || (try? files.names.isEmpty) == false }
        task.cancel()
        _ = try await synchronizer.load(files.resource())
        #expect(files.content() == whole)
        #expect(ranges == [nil, "bytes=2000000-"])
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("start over when the file has changed: two halves of different files never meet", arguments: [true, false])
    func changed(takesLarge: Bool) async throws {
        let other = FileBench.body(2_500_000, seed: 2)
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(1_000_000))), reply(other, tag: "\"2\""), for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        await #expect(throws: SynchronizerError.self) { _ = try await synchronizer.load(files.resource()) }
        _ = try await synchronizer.load(files.resource())
        #expect(files.content() == other)
        #expect(ranges == [nil, "bytes=1000000-"])
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("go on with the new file, not with the longer beginning of the old one", arguments: [true, false])
    func changedAndStopped(takesLarge: Bool) async throws {
        let other = FileBench.body(2_500_000, seed: 2)
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(2_000_000))),
            reply(other, tag: "\"2\"").failing(.close(.afterBody(1_000_000))), reply(other, tag: "\"2\""), for: "/a")
        for _ in 0..<2 {
            let synchronizer = files.synchronizer(takesLarge: takesLarge)
            await #expect(throws: SynchronizerError.self) { _ = try await synchronizer.load(files.resource()) }
        }
        _ = try await files.synchronizer(takesLarge: takesLarge).load(files.resource())
        #expect(files.content() == other)
        #expect(ranges == [nil, "bytes=2000000-", "bytes=1000000-"])
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("start over when the server sends the rest of another file, or a rest that was not requested")
    func wrongRest() async throws {
        let rest = whole.dropFirst(1_000_000)
        let wrong = Reply(
            rest, status: 206, fields: ["ETag": "\"2\"", "Content-Range": "bytes 1000000-2999999/3000000"])
        let shifted = Reply(
            rest.dropFirst(5), status: 206, fields: ["ETag": "\"1\"", "Content-Range": "bytes 1000005-2999999/3000000"])
        let other = FileBench.body(2_000_001, seed: 3)
        let longer = Reply(
            other, status: 206, fields: ["ETag": "\"1\"", "Content-Range": "bytes 1000000-3000000/3000001"])
        let unlike = Reply(
            other, status: 206, fields: ["ETag": "\"1\"", "Content-Range": "bytes 1000000-2999999/3000000"])
        for reply in [wrong, shifted, longer, unlike] {
            bench.server.enqueue(
                self.reply(whole).failing(.close(.afterBody(1_000_000))), reply, self.reply(whole), for: "/a")
            let synchronizer = files.synchronizer()
            await #expect(throws: SynchronizerError.self) { _ = try await synchronizer.load(files.resource()) }
            _ = try await synchronizer.load(files.resource())
            #expect(files.content() == whole)
            #expect(Array(ranges.suffix(3)) == [nil, "bytes=1000000-", nil])
            synchronizer.removeAll()
        }
    }

    @Test(
        "do not take a rest of another length, also if it is cut short",
        arguments: [true, false], ["1000000-3000000/3000001", "1000000-2999999/3000000"])
    func wrongRestCutShort(isFile: Bool, range: String) async throws {
        let longer = Reply(
            FileBench.body(2_000_001, seed: 3), status: 206,
            fields: ["ETag": "\"1\"", "Content-Range": "bytes \(range)"])
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(1_000_000))), longer.failing(.close(.afterBody(1_500_000))),
            reply(whole), for: "/a")
        let synchronizer = files.synchronizer()
        let data = DataResource(url: bench.server.url("/a"))
        func load() async throws -> Data? {
            if !isFile { return try await synchronizer.load(data) }
            _ = try await synchronizer.load(files.resource())
            return files.content()
        }
        await #expect(throws: SynchronizerError.self) { _ = try await load() }
        #expect(try await load() == whole)
        #expect(ranges == [nil, "bytes=1000000-", nil])
    }

    @Test(
        "start over without a strong validator, or when nothing may be kept", arguments: [true, false],
        [
            ["ETag": "W/\"1\""], ["Last-Modified": "Fri, 15 Jan 2027 08:00:00 GMT"], [:],
            ["ETag": "\"1\"", "Cache-Control": "no-store"],
        ])
    func startOver(takesLarge: Bool, fields: [String: String]) async throws {
        var complete = Reply(whole)
        for (name, value) in fields { complete = complete.adding(name, value: value) }
        bench.server.enqueue(complete.failing(.close(.afterBody(1_000_000))), complete, for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        await #expect(throws: SynchronizerError.self) { _ = try await synchronizer.load(files.resource()) }
        #expect(try files.names.isEmpty)
        #expect(files.partials.isEmpty)
        _ = try await synchronizer.load(files.resource())
        #expect(files.content() == whole)
        #expect(ranges == [nil, nil])
        #expect(try files.names == ["file"])
    }

    @Test("start over if the kept bytes have changed", arguments: [true, false])
    func corrupt(takesLarge: Bool) async throws {
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(1_000_000))), reply(whole), reply(whole), for: "/a")
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        await #expect(throws: SynchronizerError.self) { _ = try await synchronizer.load(files.resource()) }
        let kept =
            takesLarge
            ? files.partials.map { bench.directory.appendingPathComponent($0) }
            : try files.names.map { files.file($0) }
        for path in kept where !path.path.hasSuffix(".record") {
            let handle = try FileHandle(forUpdating: path)
            try handle.seek(toOffset: 500_000)
            try handle.write(contentsOf: Data([1, 2, 3, 4, 5, 6, 7, 8]))
            try handle.close()
        }
        _ = try await synchronizer.load(files.resource())
        #expect(files.content() == whole)
        #expect(ranges == [nil, "bytes=1000000-", nil])
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("start over after everything was removed, and for another user")
    func others() async throws {
        let synchronizer = files.synchronizer()
        var request = URLRequest(url: bench.server.url("/a"))
        request.setValue("Bearer 1", forHTTPHeaderField: "Authorization")
        bench.server["/a"] = reply(whole).failing(.close(.afterBody(1_000_000)))
        await #expect(throws: SynchronizerError.self) {
            _ = try await synchronizer.load(FileResource(request: request, to: files.file()))
        }
        bench.server["/a"] = reply(whole)
        _ = try await synchronizer.load(files.resource("other"))
        #expect(ranges == [nil, nil])
        synchronizer.removeAll()
        _ = try await synchronizer.load(FileResource(request: request, to: files.file()))
        #expect(ranges == [nil, nil, nil])
        #expect(files.content() == whole)
    }

    @Test("tell how far they are when they go on")
    @MainActor func progress() async throws {
        let gate = Gate()
        bench.server.enqueue(
            reply(whole).failing(.close(.afterBody(1_000_000))), reply(whole).waiting(for: gate, .afterBody(500_000)),
            for: "/a")
        let synchronizer = files.synchronizer()
        await #expect(throws: SynchronizerError.self) { _ = try await synchronizer.load(files.resource()) }
        let task = synchronizer.startLoading(files.resource()) { _ in }
        for await progress in task.progressUpdates {
            if progress.received == 1_500_000 { gate.open() }
        }
        #expect(task.progress.fraction == 1)
    }
}
