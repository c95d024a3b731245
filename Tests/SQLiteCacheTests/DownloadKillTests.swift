import Foundation
import HTTPCaching
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Downloads to files whose process is killed", .bounded, .enabled(if: ChildProcess.isAvailable))
struct DownloadKillTests {
    private static let capacity = 8 << 20
    private let directory = TemporaryDirectory()
    private let disposable = DisposableDirectory("downloads")
    private let server: ScriptedServer
    private let version = SynchronizerSupport.Locked(0)

    init() throws {
        try FileManager.default.createDirectory(at: disposable.url, withIntermediateDirectories: true)
        let version = version
        server = try ScriptedServer { request in
            guard let key = Int(request.target.dropFirst()), DownloadBodies.sizes.indices.contains(key) else {
                return Reply("", status: 404)
            }
            let current = version.withLock { $0 }
            return Reply(
                DownloadBodies.body(key, version: current),
                fields: ["ETag": "\"\(current)\"", "Cache-Control": "max-age=0"]
            ).conditional().ranged()
        }
    }

    private func child(_ seed: Int, steps: Int) throws -> ChildProcess {
        try ChildProcess(
            program: "StorageChild",
            [
                "download", directory.url.path, "\(seed)", "\(Self.capacity)", "\(server.port)", "\(steps)",
                disposable.url.path,
            ])
    }

    @Test("after kills at any moment no byte is wrong, nothing exceeds its capacity, and downloads go on")
    func kills() throws {
        let kills = Sanitizers.areOn ? 20 : 300
        var random = SeededGenerator(seed: 7)
        for kill in 1...kills {
            if kill % 40 == 0 { version.withLock { $0 = ($0 + 1) % DownloadBodies.versions } }
            let child = try child(kill, steps: 1_000)
            for _ in 0..<Int.random(in: 0..<120, using: &random) {
                let line = child.line()
                try #require(line?.hasPrefix("wrong") != true, "\(line ?? "")")
            }
            var spin = SeededGenerator(seed: UInt64(kill))  // some microseconds, so that the kill hits anything
            for _ in 0..<Int.random(in: 0..<3000, using: &random) where spin.next() == 0 { break }
            child.kill()
            let rest = child.rest()
            try #require(!rest.contains { $0.hasPrefix("wrong") }, "\(rest)")
            try checkFiles()
            try checkCache()
        }
        #expect(server.requests.contains { $0["Range"] != nil })
        #expect(server.counts.replies[206] ?? 0 > 0)
        let last = try child(kills + 1, steps: 20)
        last.expectSuccess()
        try checkFiles()
        try checkCache()
        let names = try FileManager.default.contentsOfDirectory(atPath: disposable.url.path)
        #expect(names.filter { $0.hasPrefix(".") } == [])
    }

    @Test("on a full disk, and into what can't be written, they are errors that lose nothing")
    func faults() throws {
        let own = disposable.url.appendingPathComponent("own", isDirectory: true)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: false)
        // The child is not root, to whom everything is permitted.
        #expect(chmod(own.path, 0o777) == 0)
        let child = try ChildProcess("download-faults", directory: own, [Int(server.port)])
        let lines = child.rest()
        #expect(lines.count == 4 && lines.last == "done", "\(lines)")
        // What arrived outside of the cache is not stored.
        #expect(server.counts.replies == [200: 2, 206: 1])
    }

    /// Each file is one version, from its first byte to the last.
    private func checkFiles() throws {
        for key in DownloadBodies.sizes.indices {
            let path = disposable.url.appendingPathComponent("\(key)")
            guard let body = try? Data(contentsOf: path) else { continue }
            try #require(DownloadBodies.version(of: body, key: key) != nil, "\(key) has wrong bytes")
        }
    }

    /// Each entry is the version that its validator says, and all files together are not too large.
    private func checkCache() throws {
        let reports = Reports()
        try #require(try directory.allocatedBytes() <= Self.capacity * 11 / 10)
        let cache = directory.cache(disk: Self.capacity, report: reports)
        for key in DownloadBodies.sizes.indices {
            let url = server.url("/\(key)").absoluteString
            for row in cache.rows(of: url) {
                guard let body = cache.body(of: row.id, url: url, variant: { row.variant }) else { continue }
                let tag = row.record.decoded?.response.fields[FieldName.entityTag]
                let version = try #require(DownloadBodies.version(of: body, key: key))
                try #require(tag == "\"\(version)\"")
            }
        }
        #expect(cache.state.withLock { $0.corrupt.count } == 0)
        #expect(reports.lines.isEmpty, "\(reports.lines)")
        cache.close()
        try #require(try directory.allocatedBytes() <= Self.capacity * 11 / 10)
    }
}
