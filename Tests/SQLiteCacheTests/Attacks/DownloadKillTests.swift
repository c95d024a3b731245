import Foundation
import HTTPCaching
import ImageResource
import ScriptedServer
import SynchronizerSupport
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache

@Suite("Downloads to files, and thumbnails, whose process is killed", .bounded, .enabled(if: ChildProcess.isAvailable))
struct DownloadKillTests {
    private static let capacity = 8 << 20
    private let directory = TemporaryDirectory()
    private let disposable = DisposableDirectory("downloads")
    private let server: ScriptedServer
    private let version = SynchronizerSupport.Locked(0)
    /// The checksums of the thumbnails' pixels, by side and version.
    private let thumbnails: [Int: [UInt64]]
    private let images: [Data]

    init() throws {
        let images = try SamplePhotograph.all().prefix(DownloadBodies.versions).map(\.data)
        self.images = images
        var thumbnails: [Int: [UInt64]] = [:]
        for side in DownloadBodies.thumbnails {
            let resource = ImageResource(url: URL(fileURLWithPath: "/"), maxPixelSize: side)
            for image in images {
                let pixels = try resource.encode(resource.parse(image))
                thumbnails[side, default: []].append(checksum(try #require(pixels)))
            }
        }
        self.thumbnails = thumbnails
        try FileManager.default.createDirectory(at: disposable.url, withIntermediateDirectories: true)
        let version = version
        server = try ScriptedServer { request in
            let current = version.withLock { $0 }
            let key = Int(request.target.dropFirst()).flatMap { DownloadBodies.sizes.indices.contains($0) ? $0 : nil }
            return Reply(
                key.map { DownloadBodies.body($0, version: current) } ?? images[current],
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

    @Test("after kills at any moment no byte or pixel is wrong, nothing exceeds its capacity, and downloads go on")
    func kills() throws {
        let kills = Sanitizers.areOn ? 20 : Soak.count(24, inSoak: 300)
        var random = SeededGenerator(seed: 7)
        var derived = 0
        for kill in 1...kills {
            if kill % 20 == 0 { version.withLock { $0 = ($0 + 1) % DownloadBodies.versions } }
            let child = try child(kill, steps: 1_000)
            var lines: [String] = []
            for _ in 0..<Int.random(in: 0..<120, using: &random) { lines.append(child.line() ?? "") }
            var spin = SeededGenerator(seed: UInt64(kill))  // some microseconds, so that the kill hits anything
            for _ in 0..<Int.random(in: 0..<3000, using: &random) where spin.next() == 0 { break }
            try #require(try directory.allocatedBytes() <= Self.capacity * 11 / 10)
            child.kill()
            // The kill may have cut the last line off.
            lines = (lines + child.rest()).dropLast()
            try #require(!lines.contains { $0.hasPrefix("wrong") }, "\(lines)")
            derived += try check(thumbnailsOf: lines)
            try checkFiles()
            try checkCache()
        }
        #expect(derived > 10)
        #expect(server.requests.contains { $0["Range"] != nil })
        #expect(server.counts.replies[206] ?? 0 > 0)
        let last = try child(kills + 1, steps: 60)
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
        // The body that arrived outside of the cache is not stored.
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

    /// Each thumbnail has the pixels of the version that the response was; returns how many were not decoded.
    private func check(thumbnailsOf lines: [String]) throws -> Int {
        var derived = 0
        for words in lines.map({ $0.split(separator: " ") }) where words.count == 4 {
            let version = try #require(Int(words[2].filter { $0 != "\"" }))
            let pixels = try #require(Int(words[1]).flatMap { thumbnails[$0] }?[version])
            try #require(words[3] == "\(pixels)", "\(words)")
            if words[0] == "derived" { derived += 1 }
        }
        return derived
    }

    /// Each object was made from the body of an entry that is there.
    private func checkObjects(of row: StoredRow, version: Int, in cache: ResponseCache) throws {
        for object in cache.rows(of: DerivedEntry.url(ofObjectsFrom: row.id)) {
            let url = DerivedEntry.url(ofObjectsFrom: row.id)
            guard let data = object.body ?? cache.body(of: object.id, url: url) else { continue }
            try #require(thumbnails.values.contains { $0[version] == checksum(data) })
        }
    }

    private func checkSources() throws {
        let contents = try CacheInspection(directory.url).contents()
        let entries = Set(contents.entries.map(\.id))
        for object in contents.objects {
            let source = try #require(DerivedEntry.source(of: object.response.url))
            try #require(entries.contains(source))
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
                guard let body = cache.body(of: row.id, url: url) else { continue }
                let tag = row.record.decoded?.response.fields[FieldName.entityTag]
                let version = try #require(DownloadBodies.version(of: body, key: key))
                try #require(tag == "\"\(version)\"")
            }
        }
        let url = server.url("/image").absoluteString
        for row in cache.rows(of: url) {
            guard let body = cache.body(of: row.id, url: url) else { continue }
            let tag = row.record.decoded?.response.fields[FieldName.entityTag]
            let version = try #require(images.firstIndex(of: body))
            try #require(tag == "\"\(version)\"")
            try checkObjects(of: row, version: version, in: cache)
        }
        #expect(cache.state.withLock { $0.corrupt.count } == 0)
        #expect(reports.lines.isEmpty, "\(reports.lines)")
        cache.close()
        try checkSources()
        try #require(try directory.allocatedBytes() <= Self.capacity * 11 / 10)
    }
}

private func checksum(_ data: Data) -> UInt64 { data.withUnsafeBytes { Checksum64.of($0) } }
