import Foundation
import ImageResource
import Measuring
import ScriptedServer
import Synchronizer

/// The passes of `Scripts/demo` over its feed and photographs, with and without stored thumbnails.
struct DemoRows {
    private static let disk = "demo: the disk pass"
    private static let usage = "demo: disk used by thumbnails"
    private static let rounds = 15
    /// The demo's images fill a square.
    private static func resource(_ url: URL) -> ImageResource {
        ImageResource(
            url: url, targetSize: CGSize(width: 160, height: 160), scale: 1, processing: [.cropToFill])
    }

    private let scratch: Scratch
    private let site: SampleSite

    /// Which thumbnails are stored.
    private let rules: DerivedObjects

    private init(_ rules: DerivedObjects = DerivedObjects()) throws {
        (scratch, site, self.rules) = (try Scratch(), try SampleSite(), rules)
    }

    static func wanted(by report: Report) async throws -> [Row] {
        report.isWanted(disk) || report.isWanted(usage) ? try await DemoRows().rows() : []
    }

    /// `bench-images --demo SHARE SECONDS`: both rows with other rules of what is stored.
    static func run(share: Double, seconds: Double) async throws {
        var rules = DerivedObjects()
        (rules.maximumShare, rules.minimumParseTime) = (share, seconds)
        for row in try await DemoRows(rules).rows() { print(row.name, row.value, row.ratio ?? 0) }
    }

    private func rows() async throws -> [Row] {
        defer { site.stop() }
        let without = try await fill("without", derives: false)
        let with = try await fill("with", derives: true)
        let thumbnails = Double(with.disk - without.disk) / 1e6
        var times: (derived: [Double], decoded: [Double]) = ([], [])
        for round in 0...Self.rounds {
            for derives in round % 2 == 0 ? [true, false] : [false, true] {
                let time = try await pass(derives: derives)
                if derives { times.derived.append(time) } else { times.decoded.append(time) }
            }
        }
        return [
            Row(
                Self.disk, Comparison(times.derived, times.decoded), unit: .milliseconds,
                against: "derived objects off", .atMost(0.1)),
            Row(
                Self.usage, Comparison([0, thumbnails], [0, Double(with.bodies) / 1e6]), unit: "MB",
                against: "the bodies of the photographs", .atMost(0.25)),
        ]
    }

    /// Loads everything from the site into a cache; returns what that takes on the disk, and the bytes of the photographs.
    private func fill(_ name: String, derives: Bool) async throws -> (disk: Int, bodies: Int) {
        let (synchronizer, cache) = try synchronizer(name, derives: derives)
        let bodies = try await load(with: synchronizer, derives: nil)
        if derives { try await cache.waitForQuiet() }
        return (cache.currentDiskUsage, bodies)
    }

    /// The time of a pass with nothing in memory, in nanoseconds.
    private func pass(derives: Bool) async throws -> Double {
        let (synchronizer, _) = try synchronizer("with", derives: derives)
        let start = DispatchTime.now().uptimeNanoseconds
        _ = try await load(with: synchronizer, derives: derives)
        return Double(DispatchTime.now().uptimeNanoseconds - start)
    }

    private func synchronizer(_ name: String, derives: Bool) throws -> (Synchronizer, SQLiteURLCache) {
        let cache = SQLiteURLCache(
            memoryCapacity: 0, diskCapacity: 200 << 20, directory: URL(fileURLWithPath: try scratch.path(name)))
        var configuration = Synchronizer.Configuration(cacheTime: 24 * 60 * 60, urlCache: cache)
        configuration.caching = .managed
        configuration.derivedObjects = derives ? rules : nil
        return (Synchronizer(configuration: configuration), cache)
    }

    /// Returns the bytes of the photographs that have arrived.
    /// - Parameter derives: whether images must be derived, or none; nil for images from the network.
    private func load(with synchronizer: Synchronizer, derives: Bool?) async throws -> Int {
        let feed = try await synchronizer.load(JSONResource<SampleFeed>(url: site.feedURL))
        return try await withThrowingTaskGroup(of: Loaded<PlatformImage>.self) { group in
            for item in feed.items {
                group.addTask {
                    try await synchronizer.loaded(Self.resource(item.url))
                }
            }
            var (derived, bytes) = (0, 0)
            for try await loaded in group {
                if derives != nil, loaded.source != .cache { throw BenchmarkError("\(loaded.trace)") }
                if loaded.trace.isDerived { derived += 1 }
                bytes += loaded.trace.bytesReceived
            }
            if derived > 0 ? derives != true : derives == true { throw BenchmarkError("\(derived) were derived") }
            return bytes
        }
    }
}

extension SQLiteURLCache {
    /// Waits until nothing more is stored: objects are stored after their loads have ended.
    func waitForQuiet() async throws {
        var (before, now) = (-1, statistics.entries)
        while before != now {
            try await Task.sleep(nanoseconds: 500_000_000)
            (before, now) = (now, statistics.entries)
        }
    }
}
