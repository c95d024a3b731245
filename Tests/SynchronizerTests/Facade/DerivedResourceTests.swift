import Foundation
import ScriptedServer
import TestSupport
import TestTraits
import Testing

@testable import SQLiteCache
@testable import Synchronizer

/// A resource that counts what is done for it.
private struct Counted: DerivedResource {
    final class Counts: Sendable {
        let parses = Locked(0)
        let decodes = Locked(0)
        var all: [Int] { [parses.withLock { $0 }, decodes.withLock { $0 }] }
    }

    static let encodingVersion = "1"
    let url: URL
    let counts: Counts
    var variant: ResourceVariant = "plain"
    var token: String?
    var decodeFails = false
    var encoded: @Sendable (String) -> Data? = { Data($0.utf8) }

    func request() -> URLRequest {
        var request = URLRequest(url: url)
        if let token { request.setValue(token, forHTTPHeaderField: "Authorization") }
        return request
    }

    var parse: @Sendable (Data) throws -> String {
        { [counts, variant] data in
            counts.parses.withLock { $0 += 1 }
            return "\(variant.persistentName ?? "") of \(data.count) bytes, the first is \(data.first ?? 0)"
        }
    }

    func encode(_ object: String) throws -> Data? { encoded(object) }

    func decode(_ data: Data) throws -> String {
        counts.decodes.withLock { $0 += 1 }
        if decodeFails { throw CocoaError(.coderReadCorrupt) }
        return String(decoding: data, as: UTF8.self)
    }
}

/// Each launch is a new synchronizer over the same cache directory.
@Suite("Objects that are stored next to their responses", .bounded)
struct DerivedResourceTests {
    private let bench: Workbench
    private let counts = Counted.Counts()

    init() throws {
        bench = try Workbench()
        bench.server["/a"] = Reply(Self.body(1), status: 200, fields: ["Cache-Control": "max-age=60", "Etag": "\"1\""])
    }

    private static func body(_ first: UInt8) -> Data { Data([first]) + Data(repeating: 7, count: 40_000) }

    private var resource: Counted { Counted(url: bench.server.url("/a"), counts: counts) }

    /// Loads in a new synchronizer, and brings everything to the disk.
    private func launch(
        _ resource: Counted, _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) async throws -> Loaded<String> {
        try await launch([resource], change)[0]
    }

    private func launch(
        _ resources: [Counted], _ change: (inout Synchronizer.Configuration) -> Void = { _ in }
    ) async throws -> [Loaded<String>] {
        let cache = bench.cache()
        let synchronizer = bench.synchronizer(cache: cache) { configuration in
            configuration.derivedObjects?.minimumParseTime = 0
            change(&configuration)
        }
        var loaded: [Loaded<String>] = []
        for resource in resources { loaded.append(try await synchronizer.loaded(resource)) }
        synchronizer.loader.storing.sync {}
        cache.close()
        return loaded
    }

    @Test("the next launch reads neither the body nor parses it")
    func nextLaunch() async throws {
        let first = try await launch(resource)
        #expect(counts.all == [1, 0] && first.trace.isDerived == false)
        try bench.removeBodyFiles(ofBytes: 40_001)
        let second = try await launch(resource)
        #expect(second.object == first.object && second.object.hasPrefix("plain of 40001"))
        #expect(counts.all == [1, 1])
        #expect(second.trace.isDerived && second.trace.source == .cache && second.trace.bytesSaved == 40_001)
        #expect(second.response.url == bench.server.url("/a"))
        #expect(bench.server.counts.requests == 1)
    }

    @Test("an object that is decoded is in memory from then on")
    func memory() async throws {
        _ = try await launch(resource)
        let loaded = try await launch([resource, resource])
        #expect(counts.all == [1, 1])
        #expect(loaded.map(\.trace.source) == [.cache, .memory])
    }

    @Test("a confirmed response keeps its objects, and new bytes have none")
    func validation() async throws {
        _ = try await launch(resource)
        bench.clock.advance(by: 120)
        bench.server["/a"] = nil
        bench.server.handle("/a") { request in
            request["If-None-Match"] == "\"1\""
                ? Reply("", status: 304, fields: ["Cache-Control": "max-age=60"])
                : Reply(Self.body(2), status: 200, fields: ["Cache-Control": "max-age=60"])
        }
        #expect(try await launch(resource).trace.source == .revalidated)
        let parses = counts.all[0]
        let derived = try await launch(resource)
        #expect(derived.trace.isDerived && derived.object.hasSuffix("is 1") && counts.all[0] == parses)
        bench.server["/a"] = Reply(Self.body(2), status: 200, fields: ["Cache-Control": "max-age=60"])
        bench.clock.advance(by: 120)
        #expect(try await launch(resource).object.hasSuffix("is 2"))
        let new = try await launch(resource)
        #expect(new.trace.isDerived && new.object.hasSuffix("is 2"))
    }

    @Test("each variant has its own, and one that is not stored needs the body")
    func variants() async throws {
        var other = resource
        other.variant = "other"
        _ = try await launch(resource)
        #expect(try await launch(other).object.hasPrefix("other"))
        #expect(counts.all == [2, 0])
        #expect(try await launch([resource, other]).map(\.trace.isDerived) == [true, true])
        #expect(counts.all == [2, 2])
    }

    @Test("loads of several variants at once get their own objects")
    func atOnce() async throws {
        let variants: [ResourceVariant] = ["1", "2", "3"]
        let resources = variants.map { Counted(url: bench.server.url("/a"), counts: counts, variant: $0) }
        _ = try await launch(Array(resources[..<2]))
        let synchronizer = bench.synchronizer(cache: bench.cache())
        for resources in [Array(resources[..<2]), resources] {
            synchronizer.removeAllObjects()
            let loads = resources.map { resource in Task { try await synchronizer.loaded(resource) } }
            for (number, load) in loads.enumerated() {
                #expect(try await load.value.object.hasPrefix("\(number + 1) of 40001"))
            }
        }
        #expect(bench.server.counts.requests == 1)
    }

    @Test("an object is not shared with the response to other credentials")
    func credentials() async throws {
        bench.server["/a"] = nil
        bench.server.handle("/a") { request in
            Reply(
                Self.body(UInt8(request["Authorization"]?.utf8.first ?? 0)), status: 200,
                fields: ["Cache-Control": "max-age=60, private", "Vary": "Authorization"])
        }
        for token in ["A", "B", "A", "B"] {
            var mine = resource
            mine.token = token
            #expect(try await launch(mine).object.hasSuffix("is \(token.utf8.first ?? 0)"))
        }
        #expect(counts.all == [2, 2])
    }

    @Test("invalidated and removed responses have no objects")
    func removal() async throws {
        for removal in 0..<2 {
            _ = try await launch(resource)
            let cache = bench.cache()
            let synchronizer = bench.synchronizer(cache: cache)
            if removal == 0 { synchronizer.invalidate(resource) } else { synchronizer.removeAll() }
            cache.close()
            #expect(try CacheInspection(bench.directory).contents().objects.isEmpty)
        }
        #expect(counts.all == [2, 0])
    }

    @Test("a corrupt or undecodable object gives way to the body")
    func undecodable() async throws {
        _ = try await launch(resource)
        var failing = resource
        failing.decodeFails = true
        #expect(try await launch(failing).object.hasPrefix("plain of 40001"))
        #expect(counts.all == [2, 1])
    }

    /// What keeps an object from being stored.
    enum Obstacle: CaseIterable {
        case off, quickParse, large, largeShare, noData, variantOfObject, noStore
    }

    @Test("only objects that were slow to parse and are small are stored", arguments: Obstacle.allCases)
    func obstacles(obstacle: Obstacle) async throws {
        var resource = resource
        if obstacle == .noData { resource.encoded = { _ in nil } }
        if obstacle == .variantOfObject { resource.variant = ResourceVariant("plain", identity: counts) }
        if obstacle == .noStore {
            bench.server["/a"] = Reply(Self.body(1), status: 200, fields: ["Cache-Control": "no-store"])
        }
        for _ in 0..<2 {
            _ = try await launch(resource) { configuration in
                switch obstacle {
                case .off: configuration.derivedObjects = nil
                case .quickParse: configuration.derivedObjects?.minimumParseTime = 1
                case .large: configuration.derivedObjects?.maximumSize = 20
                case .largeShare: configuration.derivedObjects?.maximumShare = 0.0001
                case .noData, .variantOfObject, .noStore: break
                }
            }
        }
        #expect(counts.all == [2, 0])
    }

    @Test("a cache that is not ours stores none")
    func foreignCache() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        for _ in 0..<2 {
            let synchronizer = bench.synchronizer(cache: cache) { $0.derivedObjects?.minimumParseTime = 0 }
            #expect(try await synchronizer.load(resource).hasPrefix("plain"))
        }
        #expect(counts.all == [2, 0])
    }
}

extension Workbench {
    /// Makes the body files of that size unreadable as bodies.
    fileprivate func removeBodyFiles(ofBytes size: Int) throws {
        let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: [.fileSizeKey])
        for case let file as URL in try #require(files) {
            if try file.resourceValues(forKeys: [.fileSizeKey]).fileSize == size {
                try Data(count: size).write(to: file)
            }
        }
    }
}
