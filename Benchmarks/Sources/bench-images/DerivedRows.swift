import Foundation
import ImageResource
import Measuring
import ScriptedServer
import Synchronizer
import Yardsticks

/// Thumbnails that are stored next to the photographs that they were decoded from. Each pass is a process of its own, which
/// prints the CPU time of one load or image in nanoseconds; the files are in the system's cache.
struct DerivedRows {
    static let name = "200 thumbnails of 12 MP photographs from the disk"
    private static let count = 200
    private static let rounds = 7

    private let scratch: Scratch
    private let server: PictureServer
    private let directory: String

    /// Fills the cache.
    init() throws {
        scratch = try Scratch()
        server = try PictureServer()
        directory = try scratch.path("cache")
        _ = try Shell.output(Pictures.ours("--fill", server.port, directory))
    }

    func rows() throws -> [Row] {
        let thumbnails = try scratch.path("thumbnails")
        let shape = try Shell.output(Pictures.script("pillow_thumbnails.py") + ["--make", thumbnails] + Pictures.lot)
        guard let bytes = Int(shape.dropLast()) else { throw BenchmarkError("no thumbnails: \(shape)") }
        let blobs = scratch.url.appendingPathComponent("blobs").path
        guard yardstick_make_blobs(blobs, Int32(Self.count), Int32(bytes)) >= 0 else {
            throw BenchmarkError("no blobs")
        }
        let all: [(name: String, goal: Row.Goal, command: [String])] = [
            ("", .atMost(0), Pictures.ours("--relaunch", server.port, directory, "derived")),
            ("decoding them", .faster(40), Pictures.ours("--relaunch", server.port, directory, "decoded")),
            ("Pillow opening JPEGs of that size", .atMost(0.3), Pictures.script("pillow_thumbnails.py") + [thumbnails]),
            ("SQLite reading blobs of that size", .atMost(2), Pictures.ours("--blobs", blobs, "\(Self.count)")),
        ]
        var times = all.map { _ in [Double]() }
        for round in 0...Self.rounds {
            for index in all.indices {
                let turn = (index + round) % all.count
                times[turn].append(Double(try Shell.output(all[turn].command).dropLast()) ?? .nan)
            }
        }
        return all.indices.dropFirst().map { index in
            Row(
                Self.name, Comparison(times[0], times[index]), unit: .microseconds, against: all[index].name,
                all[index].goal)
        }
    }

    // MARK: - The processes

    private static func synchronizer(_ directory: String, derives: Bool) -> (Synchronizer, SQLiteURLCache) {
        let cache = SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 4 << 30, directory: URL(fileURLWithPath: directory))
        var configuration = Synchronizer.Configuration(urlCache: cache)
        configuration.caching = .managed
        (configuration.memoryCapacity, configuration.preferredMemoryUsage) = (0, 0)  // no image stays
        if !derives { configuration.derivedObjects = nil }
        return (Synchronizer(configuration: configuration), cache)
    }

    private static func resources(_ port: String) -> [ImageResource] {
        (0..<count).compactMap { number in
            URL(string: "http://127.0.0.1:\(port)/photographs/\(String(format: "%03d", number)).jpg").map {
                ImageResource(url: $0, maxPixelSize: 256)
            }
        }
    }

    /// `bench-images --fill PORT DIRECTORY`: loads the photographs from the server, and waits until their thumbnails are stored.
    static func fill(_ port: String, _ directory: String) async throws {
        let (synchronizer, cache) = synchronizer(directory, derives: true)
        for resource in resources(port) { _ = try await synchronizer.load(resource) }
        try await cache.waitForQuiet()
    }

    /// `bench-images --relaunch PORT DIRECTORY derived|decoded`: loads all of them from the disk, one after the other. The first
    /// load opens the cache.
    static func relaunch(_ port: String, _ directory: String, _ kind: String) async throws {
        let (synchronizer, _) = synchronizer(directory, derives: kind == "derived")
        let start = processorTime()
        for resource in resources(port) {
            let loaded = try await synchronizer.loaded(resource)
            guard loaded.source == .cache, loaded.trace.isDerived == (kind == "derived"), loaded.object.width == 256
            else { throw BenchmarkError("\(loaded.trace)") }
        }
        print((processorTime() - start) / count)
    }

    /// `bench-images --blobs FILE COUNT`: reads all of them, each into memory of its own.
    static func readBlobs(_ path: String, _ count: Int) throws {
        let start = processorTime()
        guard yardstick_read_blobs(path, Int32(count)) >= 0 else { throw BenchmarkError("no blobs") }
        print((processorTime() - start) / count)
    }
}
