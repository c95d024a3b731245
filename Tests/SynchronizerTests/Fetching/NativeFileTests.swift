import Foundation
import TestSupport
import TestTraits
import Testing

@testable import Synchronizer

@Suite("Files in native mode", .bounded)
struct NativeFileTests {
    let files: FileBench
    let body = FileBench.body(3_000_000)

    init() throws {
        files = try FileBench()
    }

    private func reply(_ status: Int = 200, _ fields: [String: String] = [:]) -> FakeReply {
        var reply = FakeReply(status, fields)
        reply.chunks = stride(from: 0, to: body.count, by: 70_000).map { body.dropFirst($0).prefix(70_000) }
        return reply
    }

    private func resource(_ harness: NativeHarness, _ name: String = "file") -> FileResource {
        FileResource(request: harness.request(), to: files.file(name))
    }

    @Test("are written from the task, and later from the session's cache")
    func loads() async throws {
        let harness = NativeHarness(reply(200, ["Cache-Control": "max-age=60"]))
        let synchronizer = harness.synchronizer()
        #expect(try await synchronizer.loaded(resource(harness)).source == .network)
        #expect(files.content() == body)
        #expect(try await synchronizer.loaded(resource(harness, "two")).source == .cache)
        #expect(files.content("two") == body)
        #expect(try files.names == ["file", "two"])
    }

    @Test("leave nothing and change nothing when the transfer fails or is cut short")
    func fails() async throws {
        var failing = reply()
        failing.error = URLError(.cancelled)
        for reply in [failing, reply(200, ["Content-Length": "3000001"]), FakeReply(404, [:], "none")] {
            let harness = NativeHarness(reply)
            try Data("old".utf8).write(to: files.file())
            var configuration = Synchronizer.Configuration(urlCache: nil)
            configuration.retry = .none
            let synchronizer = Synchronizer(configuration: configuration, fetcher: harness.fetcher)
            await #expect(throws: SynchronizerError.self) { try await synchronizer.load(resource(harness)) }
            #expect(files.content() == Data("old".utf8))
            try await waitUntil("the file is gone") { (try? files.names) == ["file"] }
        }
    }

    @Test("are errors if the destination can't be written")
    func destination() async throws {
        let harness = NativeHarness(reply())
        try FileManager.default.createDirectory(at: files.file(), withIntermediateDirectories: false)
        await #expect {
            try await harness.synchronizer().load(resource(harness))
        } throws: { error in
            guard case .file(let error, _)? = error as? SynchronizerError else { return false }
            return error.reason == .isDirectory
        }
    }
}
