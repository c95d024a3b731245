import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Destinations that can't be written", .bounded)
struct FileErrorTests {
    let files: FileBench
    let body = FileBench.body(500_000)
    var bench: Workbench { files.bench }

    init() throws {
        files = try FileBench()
    }

    private func reason(_ error: any Error) -> FileError.Reason? {
        if case .file(let error, _)? = error as? SynchronizerError { error.reason } else { nil }
    }

    private enum Obstacle: CaseIterable {
        case directory, link, noFolder, fileAsFolder, pipe
    }

    /// Whether the cache takes the body. Otherwise it arrives beside the destination.
    private enum Size: CaseIterable {
        case taken, tooLarge
    }

    private func put(_ obstacle: Obstacle) throws -> (URL, FileError.Reason) {
        let (place, manager) = (files.file("place"), FileManager.default)
        switch obstacle {
        case .directory:
            try manager.createDirectory(at: place, withIntermediateDirectories: false)
            return (place, .isDirectory)
        case .link:
            try Data("target".utf8).write(to: files.file("target"))
            try manager.createSymbolicLink(at: place, withDestinationURL: files.file("target"))
            return (place, .isLink)
        case .noFolder: return (files.file("gone").appendingPathComponent("file"), .noFolder)
        case .fileAsFolder:
            try Data().write(to: place)
            return (place.appendingPathComponent("file"), .noFolder)
        case .pipe:
            #expect(mkfifo(place.path, 0o600) == 0)
            return (place, .isSpecial)
        }
    }

    @Test("are errors before anything is sent", arguments: Obstacle.allCases)
    private func before(_ obstacle: Obstacle) async throws {
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"])
        let (place, expected) = try put(obstacle)
        let resource = FileResource(url: bench.server.url("/a"), to: place)
        await #expect {
            try await files.synchronizer().load(resource)
        } throws: { reason($0) == expected && "\($0)".contains(place.path) }
        #expect(bench.server.requests.isEmpty)
        #expect(files.content("target") == (obstacle == .link ? Data("target".utf8) : nil))
    }

    @Test("that are no file URLs are errors before anything is sent")
    func notFile() async throws {
        bench.server["/a"] = Reply(body)
        let place = try #require(URL(string: "https://example.com\(files.file("place").path)"))
        await #expect {
            try await files.synchronizer().load(FileResource(url: bench.server.url("/a"), to: place))
        } throws: { reason($0) == .notFileURL && "\($0)".contains(place.absoluteString) }
        #expect(bench.server.requests.isEmpty)
        #expect(try files.names.isEmpty)
    }

    @Test(
        "are errors if they become so in between, and nothing is lost that the cache takes",
        arguments: Obstacle.allCases, Size.allCases)
    private func inBetween(_ obstacle: Obstacle, _ size: Size) async throws {
        let gate = Gate()
        bench.server["/a"] = Reply(body, fields: ["Cache-Control": "max-age=60"]).waiting(for: gate)
        let place =
            obstacle == .noFolder || obstacle == .fileAsFolder
            ? files.folder.appendingPathComponent(obstacle == .noFolder ? "gone" : "place") : files.folder
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let destination = place == files.folder ? files.file("place") : place.appendingPathComponent("file")
        let synchronizer = files.synchronizer(takesLarge: size == .taken)
        async let loaded = synchronizer.load(FileResource(url: bench.server.url("/a"), to: destination))
        try await gate.waitForArrivals()
        if place != files.folder { try FileManager.default.removeItem(at: place) }
        let (_, expected) = try put(obstacle)
        gate.open()
        do {
            _ = try await loaded
            Issue.record("no error")
        } catch {
            #expect(reason(error) == expected, "\(error)")
        }
        #expect(files.content("target") == (obstacle == .link ? Data("target".utf8) : nil))
        #expect(try await synchronizer.loaded(files.resource()).source == (size == .taken ? .cache : .network))
        #expect(files.content() == body)
        #expect(bench.server.requests.count == (size == .taken ? 1 : 2))
        #expect(try !files.names.contains { $0.hasPrefix(".") })
    }

    @Test("are no errors for those who share the transfer")
    func shared() async throws {
        let gate = Gate()
        bench.server["/a"] = Reply(body).waiting(for: gate)
        let synchronizer = files.synchronizer()
        let results = Collector<FileError.Reason?>()
        for name in ["one", "place", "two"] {
            if name == "place" {
                try await gate.waitForArrivals()
                _ = try put(.directory)
            }
            synchronizer.loadResource(files.resource(name), on: .global()) { result in
                if case .error(let error) = result { results.append(reason(error)) } else { results.append(nil) }
            }
        }
        gate.open()
        try await results.wait(for: 3)
        #expect(results.elements.compactMap { $0 } == [.isDirectory])
        #expect(files.content("one") == body)
        #expect(files.content("two") == body)
        #expect(bench.server.requests.count == 1)
    }

    @Test("do not lose the end of a download that the cache does not take: only the last piece is requested again")
    func keepsLarge() async throws {
        let large = FileBench.body(3_000_000)
        let gate = Gate()
        bench.server["/a"] = Reply(large, fields: ["ETag": "\"1\""]).ranged().waiting(for: gate, .afterBody(2_500_000))
        let synchronizer = files.synchronizer(takesLarge: false)
        async let loaded = synchronizer.load(files.resource("place"))
        try await gate.waitForArrivals()
        _ = try put(.directory)
        gate.open()
        do {
            _ = try await loaded
            Issue.record("no error")
        } catch {
            #expect(reason(error) == .isDirectory)
        }
        try FileManager.default.removeItem(at: files.file("place"))
        _ = try await synchronizer.load(files.resource("place"))
        #expect(files.content("place") == large)
        let start = bench.server.requests.last?["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
        #expect(start >= 1_000_000 && start < 3_000_000)
        #expect(try files.names == ["place"])
    }

    @Test("because the disk has no room are errors before the body arrives")
    func noSpace() async throws {
        bench.server["/a"] = .script(.text("HTTP/1.1 200 OK\r\nContent-Length: 4611686018427387904\r\n\r\nabc"))
        await #expect {
            try await files.synchronizer().load(files.resource())
        } throws: { error in
            reason(error) == .noSpace
                && (error as? SynchronizerError)?.context.trace.storing == .notStored(.diskFailed)
        }
        #expect(try files.names.isEmpty)
        #expect(files.partials.isEmpty)
    }

    @Test("without a cache name the destination, and blame no cache", arguments: ["", "ETag: \"1\"\r\n"])
    func noSpaceWithoutCache(fields: String) async throws {
        let head = "HTTP/1.1 200 OK\r\n\(fields)Content-Length: 4611686018427387904\r\n\r\n"
        bench.server["/a"] = .script(.text(head + "abc"))
        let synchronizer = bench.synchronizer { $0.urlCache = nil }
        await #expect {
            try await synchronizer.load(files.resource())
        } throws: { error in
            guard case .file(let cause, let context)? = error as? SynchronizerError else { return false }
            return cause.reason == .noSpace && cause.path == files.file().path
                && context.trace.storing == .notStored(.noCache)
        }
        #expect(try files.names.isEmpty)
    }
}
