import Foundation
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Files", .bounded)
struct FileTests {
    let files: FileBench
    var bench: Workbench { files.bench }

    init() throws {
        files = try FileBench()
    }

    @Test("get the body, whole, from the server and later from the cache", arguments: [0, 1, 1_000, 20_000, 3_000_001])
    func loads(count: Int) async throws {
        let body = FileBench.body(count)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
        let synchronizer = files.synchronizer()
        let first = try await synchronizer.loaded(files.resource("one"))
        #expect(first.object == files.file("one"))
        #expect(first.source == .network)
        #expect(first.trace.bytesReceived == count)
        let second = try await synchronizer.loaded(files.resource("two"))
        #expect(second.source == .cache)
        #expect(second.trace.bytesSaved == count)
        #expect(files.content("one") == body)
        #expect(files.content("two") == body)
        #expect(try files.names == ["one", "two"])
        #expect(files.partials.isEmpty)
        #expect(bench.server.requests.count == 1)
        // The same entry answers those who want bytes.
        #expect(try await synchronizer.load(DataResource(url: bench.server.url("/a"))) == body)
        #expect(bench.server.requests.count == 1)
    }

    @Test("replace the file that was there, and leave nothing beside it", arguments: [true, false])
    func replaces(takesLarge: Bool) async throws {
        let body = FileBench.body(2_000_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        try Data("old".utf8).write(to: files.file())
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        _ = try await synchronizer.load(files.resource())
        #expect(files.content() == body)
        #expect(try files.names == ["file"])
        _ = try await synchronizer.load(files.resource())
        #expect(bench.server.requests.count == (takesLarge ? 1 : 2))
        #expect(files.content() == body)
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("come from what others have stored in memory-sized pieces", arguments: [500, 10_000, 1_000_000])
    func fromData(count: Int) async throws {
        let body = FileBench.body(count)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
        let synchronizer = files.synchronizer()
        #expect(try await synchronizer.load(DataResource(url: bench.server.url("/a"))) == body)
        #expect(try await synchronizer.loaded(files.resource()).source == .cache)
        #expect(files.content() == body)
        #expect(bench.server.requests.count == 1)
    }

    @Test("arrive where the system finds them, though the path goes through a link and back", arguments: [true, false])
    func pathThroughLink(takesLarge: Bool) async throws {
        let body = FileBench.body(2_000_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
        let (manager, real) = (FileManager.default, files.file("real/inner"))
        try manager.createDirectory(at: real, withIntermediateDirectories: true)
        try manager.createSymbolicLink(at: files.file("link"), withDestinationURL: real)
        let destination = URL(fileURLWithPath: files.folder.path + "/link/../file")
        let url = try await files.synchronizer(takesLarge: takesLarge).load(
            FileResource(url: bench.server.url("/a"), to: destination))
        #expect(try Data(contentsOf: url) == body)
        #expect(files.content("real/file") == body)
        #expect(try files.names == ["link", "real"])
    }

    @Test("that are only prefetched to the disk need no folder")
    func prefetched() async throws {
        bench.server["/a"] = Reply(FileBench.body(2_000_000), fields: ["Cache-Control": "max-age=60"])
        let synchronizer = files.synchronizer()
        let result = await synchronizer.prefetch([files.resource("missing/file")], to: .disk).result
        #expect(result.isComplete)
        #expect(try await synchronizer.loaded(files.resource()).source == .cache)
        #expect(bench.server.requests.count == 1)
    }

    @Test("of ten callers share one transfer", arguments: [true, false])
    func coalesces(takesLarge: Bool) async throws {
        let body = FileBench.body(2_000_000)
        let gate = Gate()
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
            .waiting(for: gate, .afterBody(500_000))
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        let done = Collector<Void>()
        for number in 0..<10 {
            let resource = files.resource("file\(number)")
            synchronizer.loadResource(resource, on: .global()) { _ in done.append(()) }
        }
        try await gate.waitForArrivals()
        gate.open()
        try await done.wait(for: 10)
        #expect(bench.server.requests.count == 1)
        var inodes: Set<UInt64> = []
        for number in 0..<10 {
            #expect(files.content("file\(number)") == body)
            var status = stat()
            #expect(lstat(files.file("file\(number)").path, &status) == 0)
            inodes.insert(UInt64(status.st_ino))
        }
        #expect(inodes.count == 10)
        #expect(try files.names.count == 10)
    }

    @Test("that a caller changes do not change what the next caller gets")
    func changed() async throws {
        let body = FileBench.body(100_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
        let synchronizer = files.synchronizer()
        _ = try await synchronizer.load(files.resource("one"))
        let handle = try FileHandle(forUpdating: files.file("one"))
        try handle.seek(toOffset: 50_000)
        try handle.write(contentsOf: Data("changed".utf8))
        try handle.close()
        _ = try await synchronizer.load(files.resource("two"))
        #expect(files.content("two") == body)
        #expect(files.content("one") != body)
    }

    @Test(
        "from the cache do not read the folder of their destination; others remove what a killed process has left there"
    )
    func leftBehind() async throws {
        let body = FileBench.body(100_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""]).conditional()
        let synchronizer = files.synchronizer()
        _ = try await synchronizer.load(files.resource())
        let checksum = String(Data("file".utf8).withUnsafeBytes { Checksum64.of($0) }, radix: 16)
        let padding = String(repeating: "0", count: 16 - checksum.count)
        let left = ".download-\(padding)\(checksum)-0123456789abcdef"
        try Data(body.prefix(10)).write(to: files.file(left))
        #expect(try await synchronizer.loaded(files.resource()).source == .cache)
        #expect(try files.names == [left, "file"])
        bench.clock.advance(by: 100)
        #expect(try await synchronizer.loaded(files.resource()).source == .revalidated)
        #expect(try files.names == ["file"])
        try Data(body.prefix(10)).write(to: files.file(left))
        let request = URLRequest(url: bench.server.url("/a"), cachePolicy: .reloadIgnoringLocalCacheData)
        _ = try await synchronizer.load(FileResource(request: request, to: files.file()))
        #expect(try files.names == ["file"])
    }

    @Test("are confirmed by the server without another transfer of the body")
    func confirmed() async throws {
        let body = FileBench.body(100_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""]).conditional()
        let synchronizer = files.synchronizer()
        _ = try await synchronizer.load(files.resource("one"))
        bench.clock.advance(by: 100)
        #expect(try await synchronizer.loaded(files.resource("two")).source == .revalidated)
        #expect(files.content("two") == body)
        #expect(bench.server.requests.map { $0["If-None-Match"] } == [nil, "\"1\""])
    }

    @Test("have no limit unless they say so; an error has a body of its own")
    func limits() async throws {
        bench.server["/a"] = Reply(FileBench.body(100_000))
        bench.server["/none"] = Reply("no such file", status: 404)
        let synchronizer = bench.synchronizer { $0.maximumResponseSize = 1_000 }
        _ = try await synchronizer.load(files.resource())
        var small = FileResource(url: bench.server.url("/a"), to: files.file("small"))
        #expect(small.maximumSize == .max)
        small.maximumSize = 99_999
        await #expect {
            _ = try await synchronizer.load(small)
        } throws: { if case SynchronizerError.tooLarge(99_999, _) = $0 { true } else { false } }
        await #expect {
            _ = try await synchronizer.load(files.resource("none", "/none"))
        } throws: { error in
            guard case .status(let response, let context)? = error as? SynchronizerError else { return false }
            return response.statusCode == 404 && context.body == Data("no such file".utf8)
        }
        #expect(try files.names == ["file"])
        #expect(files.partials.isEmpty)
    }

    @Test("may be large pieces of unknown length, which the cache takes or not", arguments: [true, false])
    func unknownLength(takesLarge: Bool) async throws {
        let body = FileBench.body(5_000_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"]).chunked(70_000)
        let synchronizer = files.synchronizer(takesLarge: takesLarge)
        _ = try await synchronizer.load(files.resource("one"))
        #expect(files.content("one") == body)
        #expect(try await synchronizer.loaded(files.resource("two")).source == (takesLarge ? .cache : .network))
        #expect(files.content("two") == body)
        #expect(try files.names == ["one", "two"])
        #expect(files.partials.isEmpty)
    }

    @Test("come from file and data URLs, too")
    func otherSchemes() async throws {
        let body = FileBench.body(3_000_000)
        try body.write(to: files.file("source"))
        let synchronizer = files.synchronizer()
        _ = try await synchronizer.load(FileResource(url: files.file("source"), to: files.file("copy")))
        #expect(files.content("copy") == body)
        #expect(try files.names == ["copy", "source"])
    }

    @Test("are prefetched into the cache without a file")
    func prefetch() async throws {
        let body = FileBench.body(3_000_000)
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
        let synchronizer = files.synchronizer()
        synchronizer.prefetch([files.resource()], to: .disk)
        try await waitUntil("it is loaded") { synchronizer.prefetchStatistics.loaded > 0 }
        #expect(try files.names.isEmpty)
        #expect(try await synchronizer.loaded(files.resource()).source == .cache)
        #expect(files.content() == body)
    }
}
